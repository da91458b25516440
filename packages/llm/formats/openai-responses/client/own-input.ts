import type { Json } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { CARRIER_MARK, plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { isPacked } from '../wire/carried-reasoning.ts'
import { readField } from './read-field.ts'

/**
 * The input of a conversation that another provider answered before: without the state that we packed for that one, and
 * without items that bring tools which were dropped. undefined: it can go as it came.
 */
export function readOwnInput(source: SourceBody, dropped: readonly string[]): Json[] | undefined {
  const isDropped = (at: number): boolean => dropped.some(path => path.startsWith(`input[${at}].`))
  const hasDropped = dropped.some(path => path.startsWith('input['))
  if (!hasDropped && !source.bytes.includes(CARRIER_MARK)) return undefined
  const input = readField(source, 'input')
  if (!Array.isArray(input)) return undefined
  return input.filter((item, at) => !isDropped(at) && !isForeignReasoning(item)).map(withPlainId)
}

function isForeignReasoning(item: Json): boolean {
  const data = toText(toObject(item)?.encrypted_content)
  return data !== undefined && isPacked(data)
}

function withPlainId(value: Json): Json {
  const item = toObject(value)
  const id = toText(item?.call_id)
  return item === undefined || id === undefined ? value : { ...item, call_id: plainToolCallId(id) }
}
