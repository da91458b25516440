import type { JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import { parseInnerJson, parseInnerObject } from '../../shared/reading/parse-inner-json.ts'
import { CARRIER_MARK, inflateToolCallId, packText } from '../../shared/reasoning/reasoning-carrier.ts'

/**
 * Callers that let answers be stored refer to the items of an answer by their ids. The gateway stores none: the id of a
 * call carries the call, so that a reference to it can be followed. Texts and reasoning are not carried, since an id is
 * sent before them.
 */
export interface MintedCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
}

/** Longer arguments are left out: the id is part of every event of its item. */
const MAX_ARGUMENTS = 2000
/** An id of a call that carries more reasoning is not carried in turn. */
const MAX_CALL_ID = 16_384
const MINTED =
  /^(?:rs|msg|fc|ctc|lsh|tsc)_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}_\d+(?:__rd1__|$)/

/** Returns true if the gateway made the id of an item. */
export function isMintedId(id: string): boolean {
  return MINTED.test(id)
}

export function packCall(id: string, { callId, name, arguments: text }: MintedCall): string {
  if (callId.length > MAX_CALL_ID) return id
  return packText(id, JSON.stringify([callId, name, text.length > MAX_ARGUMENTS ? '' : text]))
}

/** The call that an id of the gateway carries; undefined: it carries none. */
export function unpackCall(id: string): MintedCall | undefined {
  const text = isMintedId(id) ? inflateToolCallId(id) : undefined
  if (text === undefined) return undefined
  try {
    const value: unknown = parseInnerJson(text)
    if (!Array.isArray(value)) return undefined
    const [callId, name, args] = value as unknown[]
    if (typeof callId !== 'string' || typeof name !== 'string' || typeof args !== 'string') return undefined
    // Arguments that had not all come when the id was made are not JSON.
    return { callId, name, arguments: parseInnerObject(args) === undefined ? '{}' : args }
  } catch {
    return undefined
  }
}

/** Returns the id of a reference to an item that the gateway made; undefined: it refers to no such item. */
export function mintedReference({ type, id }: JsonObject): string | undefined {
  const text = type === 'item_reference' ? toText(id) : undefined
  return text !== undefined && isMintedId(text) ? text : undefined
}

/** The id of an item without what it carries. */
export function plainItemId(id: string): string {
  const at = isMintedId(id) ? id.indexOf(CARRIER_MARK) : -1
  return at < 0 ? id : id.slice(0, at)
}
