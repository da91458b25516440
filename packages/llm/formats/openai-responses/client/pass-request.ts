import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { toWireModel } from '../../../upstream/openai-address.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { shortToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { isPacked } from '../wire/carried-reasoning.ts'
import { FIELDS } from '../wire/fields.ts'
import { mintedReference, plainItemId, unpackCall } from '../wire/minted-items.ts'
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
): Pick<EncodedRequest, 'body' | 'content'> {
  const changes = new Map<string, Json | undefined>([['model', toWireModel(target)]])
  const cap = request.maxOutputTokens
  if (cap !== undefined && cap !== request.receivedOutputCap) {
    changes.set('max_output_tokens', encodeOutputCap(cap))
  }
  for (const name of dropped) if (source.fields.has(name)) changes.set(name, undefined)
  if (dropped.includes('reasoning_effort')) removeEffort(source, changes)
  // Without the field an answer is stored.
  if (dropped.includes('store')) changes.set('store', false)
  if (dropped.some(path => path.startsWith('tools['))) removeTools(source, new Set(dropped), changes)
  const leavesReasoningOut = request.leavesReasoningOut === true
  if (
    leavesReasoningOut ||
    request.carriesReasoning === true ||
    dropped.some(path => path.startsWith('input['))
  ) {
    rewriteInput(source, { dropped: new Set(dropped), leavesReasoningOut }, changes)
  }
  return {
    body: spliceObject(source, changes),
    content: { rules: FIELDS.rules, value: source.value, changes },
  }
}

type Changes = Map<string, Json | undefined>

function removeEffort({ value }: SourceBody, changes: Changes): void {
  const { effort, ...rest } = toObject(value.reasoning) ?? {}
  if (effort === undefined) return
  changes.set('reasoning', Object.keys(rest).length === 0 ? undefined : rest)
}

/**
 * The list is made from the received one, so that entries that stay keep fields the gateway does not read. Without a tool
 * there is nothing to choose.
 */
function removeTools(source: SourceBody, dropped: ReadonlySet<string>, changes: Changes): void {
  const { tools } = source.value
  if (!Array.isArray(tools)) return
  const kept = tools.filter((_, at) => !dropped.has(`tools[${at}]`))
  if (kept.length === tools.length) return
  changes.set('tools', kept.length === 0 ? undefined : kept)
  if (kept.length > 0 || bringsTools(source.value.input)) return
  for (const name of ['tool_choice', 'parallel_tool_calls']) {
    if (source.fields.has(name)) changes.set(name, undefined)
  }
}

function bringsTools(input: Json | undefined): boolean {
  return Array.isArray(input) && input.some(item => toObject(item)?.tools !== undefined)
}

/** What of an item is dropped: some of its tools, or all of it. */
type Removal = Set<number> | 'all'

const DROPPED = /^input\[(\d+)\]\.(?:tools\[(\d+)\]$)?/

function toRemovals(dropped: Iterable<string>): ReadonlyMap<number, Removal> {
  const removals = new Map<number, Removal>()
  for (const path of dropped) {
    const found = DROPPED.exec(path)
    if (found === null) continue
    const at = Number(found[1])
    const known = removals.get(at)
    if (found[2] === undefined) removals.set(at, 'all')
    else if (known === undefined) removals.set(at, new Set([Number(found[2])]))
    else if (known !== 'all') known.add(Number(found[2]))
  }
  return removals
}

interface Rewriting {
  readonly dropped: ReadonlySet<string>
  readonly leavesReasoningOut: boolean
}

/**
 * Removes the state that the gateway packed for another provider, which answered the conversation before, and dropped tools that
 * items bring. The list is made from the received one, so that items that stay keep fields the gateway does not read.
 */
function rewriteInput(
  source: SourceBody,
  { dropped, leavesReasoningOut }: Rewriting,
  changes: Changes,
): void {
  const { input } = source.value
  if (!Array.isArray(input)) return
  const removals = toRemovals(dropped)
  const kept: Json[] = []
  for (const [at, item] of input.entries()) {
    if (isForeignReasoning(item) || (leavesReasoningOut && isEncryptedReasoning(item))) continue
    const reference = toReference(item)
    const own = reference === undefined ? item : toCall(reference)
    const remaining = own === undefined ? undefined : withoutTools(own, removals.get(at))
    if (remaining === undefined) continue
    const plain = withPlainId(remaining)
    kept.push(leavesReasoningOut ? withoutId(plain) : plain)
  }
  changes.set('input', kept)
}

/** The item without its dropped tools; undefined: it brought nothing else, or something else of it is dropped. */
function withoutTools(value: Json, removal: Removal | undefined): Json | undefined {
  if (removal === undefined) return value
  const item = toObject(value)
  if (removal === 'all' || item === undefined || !Array.isArray(item.tools)) return undefined
  const tools = item.tools.filter((_, at) => !removal.has(at))
  return tools.length === 0 ? undefined : { ...item, tools }
}

function toReference(item: Json): string | undefined {
  const object = toObject(item)
  return object === undefined ? undefined : mintedReference(object)
}

/** The call that a reference to one of the gateway's items stands for; undefined: the item was no call. */
function toCall(reference: string): JsonObject | undefined {
  const call = unpackCall(reference)
  if (call === undefined) return undefined
  return { type: 'function_call', call_id: call.callId, name: call.name, arguments: call.arguments }
}

function isForeignReasoning(item: Json): boolean {
  const data = toText(toObject(item)?.encrypted_content)
  return data !== undefined && isPacked(data)
}

/** A `compaction` item also has encrypted content, which is the conversation itself. */
function isEncryptedReasoning(item: Json): boolean {
  const { type, encrypted_content: data } = toObject(item) ?? {}
  return type === 'reasoning' && toText(data) !== undefined
}

/** The provider refuses texts and calls whose ids it knows without the reasoning before them; it takes them without ids. */
const TYPES_WITHOUT_ID: ReadonlySet<unknown> = new Set(['message', 'function_call', 'custom_tool_call'])

function withoutId(value: Json): Json {
  const item = toObject(value)
  if (item === undefined || !TYPES_WITHOUT_ID.has(item.type)) return value
  const { id: _, ...rest } = item
  return rest
}

function withPlainId(value: Json): Json {
  const item = toObject(value)
  if (item === undefined) return value
  const callId = toText(item.call_id)
  const id = toText(item.id)
  return {
    ...item,
    ...(id === undefined ? {} : { id: plainItemId(id) }),
    ...(callId === undefined ? {} : { call_id: shortToolCallId(callId) }),
  }
}
