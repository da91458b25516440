import type { Json } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { toWireModel } from '../../../upstream/openai-address.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { isPacked } from '../wire/carried-reasoning.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeOutputCap } from './encode-body.ts'

/**
 * A body that is in this format already: only fields that must differ are written anew. `dropped` holds names of fields
 * and paths of entries, such as `tools[0]` and `input[1].tools[0]`.
 */
export function passRequest(
  request: ChatRequest,
  target: Target,
  source: SourceBody,
  dropped: readonly string[],
): Pick<UpstreamRequest, 'body' | 'content'> {
  const changes = new Map<string, Json | undefined>([['model', toWireModel(target)]])
  const cap = request.maxOutputTokens
  if (cap !== undefined && cap !== request.receivedOutputCap) {
    changes.set('max_output_tokens', encodeOutputCap(cap))
  }
  for (const name of dropped) if (source.fields.has(name)) changes.set(name, undefined)
  // Without the field an answer is stored.
  if (dropped.includes('store')) changes.set('store', false)
  if (dropped.some(path => path.startsWith('tools['))) removeTools(source, dropped, changes)
  if (request.carriesReasoning === true || dropped.some(path => path.startsWith('input['))) {
    rewriteInput(source, dropped, changes)
  }
  return {
    body: spliceObject(source, changes),
    content: { rules: FIELDS.rules, value: source.value, changes },
  }
}

type Changes = Map<string, Json | undefined>

/** The list is made from the received one, so that entries that stay keep fields the gateway does not read. */
function removeTools(source: SourceBody, dropped: readonly string[], changes: Changes): void {
  const tools = source.value.tools
  if (!Array.isArray(tools)) return
  changes.set(
    'tools',
    tools.filter((_, at) => !dropped.includes(`tools[${at}]`)),
  )
}

/**
 * Removes the state that we packed for another provider, which answered the conversation before, and items that bring
 * dropped tools. The list is made from the received one, so that items that stay keep fields the gateway does not read.
 */
function rewriteInput(source: SourceBody, dropped: readonly string[], changes: Changes): void {
  const input = source.value.input
  if (!Array.isArray(input)) return
  const isDropped = (at: number): boolean => dropped.some(path => path.startsWith(`input[${at}].`))
  const kept = input.filter((item, at) => !isDropped(at) && !isForeignReasoning(item))
  changes.set('input', kept.map(withPlainId))
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
