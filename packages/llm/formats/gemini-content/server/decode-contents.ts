import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { makeToolCallId } from '../../shared/decode-message.ts'
import { markDirect, plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { PLACEHOLDER, toSignature } from '../wire/signatures.ts'
import { decodePart } from './decode-parts.ts'

/** Calls that have no result yet, in their order. */
type Pending = { readonly id: string; readonly name: string }[]

/** `systemInstruction` and `contents` of a caller of this format as canonical messages. `body` is checked before. */
export function decodeContents(body: JsonObject): Message[] {
  const messages: Message[] = []
  const instruction = decodeAll(toObjects(toObject(body.systemInstruction)?.parts))
  if (instruction.length > 0) messages.push({ role: 'system', content: toContent(instruction) })
  const pending: Pending = []
  for (const [turn, content] of toObjects(body.contents).entries()) {
    const parts = toObjects(content.parts)
    if (content.role === 'model') messages.push(decodeModel(parts, turn, pending))
    else messages.push(...decodeUser(parts, pending))
  }
  return messages
}

function decodeAll(parts: readonly JsonObject[]): ContentPart[] {
  return parts.map(decodePart).filter(part => part !== undefined)
}

/** One text alone is a string. */
function toContent(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? String(first.text) : parts
}

/** What a model said in several parts is one text; they were cut where its tokens were. */
function toAnswer(parts: ContentPart[]): string | ContentPart[] {
  return parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => String(text)).join('') : parts
}

/** Results of calls are messages of their own, and go before what else the user says. */
function decodeUser(parts: readonly JsonObject[], pending: Pending): Message[] {
  const results = parts.map(part => toObject(part.functionResponse)).filter(each => each !== undefined)
  const said = decodeAll(parts)
  return [
    ...results.map(result => decodeResult(result, pending)),
    ...(said.length > 0 || results.length === 0 ? [{ role: 'user' as const, content: toContent(said) }] : []),
  ]
}

/** Which call it answers is told by an id, or by the name of the function alone. */
function decodeResult(result: JsonObject, pending: Pending): Message {
  const given = toText(result.id)
  const name = toText(result.name) ?? ''
  const id = takePending(given, name, pending)?.id ?? given ?? name
  const text = toJsonText((toObject(result.response) ?? {}) as Json)
  const media = decodeAll(toObjects(result.parts))
  return {
    role: 'tool',
    tool_call_id: id,
    name,
    content: media.length === 0 ? text : [{ type: 'text', text }, ...media],
  }
}

function takePending(id: string | undefined, name: string, pending: Pending): Pending[number] | undefined {
  const byId =
    id === undefined ? -1 : pending.findIndex(call => plainToolCallId(call.id) === plainToolCallId(id))
  const at = byId >= 0 ? byId : pending.findIndex(call => call.name === name)
  return at < 0 ? undefined : pending.splice(at, 1)[0]
}

function decodeModel(parts: readonly JsonObject[], turn: number, pending: Pending): Message {
  const details: ReasoningDetail[] = []
  const calls: ToolCall[] = []
  let thought = ''
  for (const part of parts) {
    const signature = toText(part.thoughtSignature)
    const call = toObject(part.functionCall)
    if (part.thought === true) thought += toText(part.text) ?? ''
    let id: string | undefined
    if (call !== undefined) {
      const decoded = decodeCall(call, turn, calls.length)
      calls.push(decoded)
      pending.push({ id: decoded.id, name: decoded.function.name })
      id = plainToolCallId(decoded.id)
    }
    if (signature !== undefined && signature !== PLACEHOLDER) {
      details.push({ ...toSignature(signature, id), index: details.length })
    }
  }
  const said = decodeAll(parts)
  return {
    role: 'assistant',
    content: said.length === 0 && calls.length > 0 ? null : toAnswer(said),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(thought === '' ? {} : { reasoning: thought }),
    // What stands in this format's own place is its family's: nobody who hands models on gets it.
    ...(details.length === 0 ? {} : { reasoning_details: markDirect(details) }),
  }
}

/** A call without an id gets the same one each time, so that what a provider keeps of a conversation stays of use. */
function decodeCall(call: JsonObject, turn: number, index: number): ToolCall {
  const name = toText(call.name) ?? ''
  const id = toText(call.id) ?? makeToolCallId('', turn, index, name)
  return { id, type: 'function', function: { name, arguments: toJsonText(toObject(call.args) ?? {}) } }
}
