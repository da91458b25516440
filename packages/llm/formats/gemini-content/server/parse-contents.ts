import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { makeToolCallId } from '../../shared/answers/decode-message.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'
import { invalid, listAt, objectAt, optionalObject } from '../../shared/reading/read-fields.ts'
import { markDirect, plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { markSandbox } from '../../shared/reasoning/sandbox-reasoning.ts'
import type { MutableFindings } from '../../shared/requests/findings.ts'
import { PLACEHOLDER, toSignature } from '../wire/signatures.ts'
import { noteUnknownFields } from './note-unknown-fields.ts'
import {
  listContent,
  type ParsedCall,
  type ParsedPart,
  type ParsedResult,
  parseParts,
} from './parse-parts.ts'
import { PendingCalls } from './pending-calls.ts'

/** `function` is the role of results in the first version of the API, `tool` in samples of Google's client for Python. */
const ROLES: ReadonlySet<Json | undefined> = new Set([undefined, null, 'user', 'model', 'function', 'tool'])

const CONTENT_FIELDS = ['role', 'parts']

/**
 * `systemInstruction` and `contents` as canonical messages. Throws RequestError on a value of the wrong form. Fields and
 * parts that not every target can honour are added to the findings.
 */
export function parseContents(body: JsonObject, findings: MutableFindings): Message[] {
  const messages: Message[] = []
  const instruction = optionalObject(body, 'systemInstruction')
  if (instruction !== undefined) {
    noteUnknownFields(instruction, 'systemInstruction', CONTENT_FIELDS, findings)
    const parts = listContent(parseParts(instruction.parts, 'systemInstruction.parts', findings))
    if (parts.length > 0) messages.push({ role: 'system', content: toContent(parts) })
  }
  const contents = listAt(body.contents, 'contents')
  if (contents.length === 0) throw invalid('contents', 'must have at least one content.')
  const pending = new PendingCalls()
  for (const turn of listTurns(contents, findings)) {
    if (turn.isModel) messages.push(toAssistant(turn, pending))
    else addUser(turn.parts, pending, messages)
  }
  return messages
}

/** Contents of one role that follow each other. */
interface Turn {
  readonly isModel: boolean
  readonly parts: ParsedPart[]
  /** The place of the first content. */
  readonly at: number
}

/**
 * Google's clients record each chunk of a stream as a content of its own, and send all of them back. Other formats have one message
 * for the turn: some providers refuse several of one role, or an empty one, and each costs tokens.
 */
function listTurns(contents: readonly Json[], findings: MutableFindings): Turn[] {
  const turns: Turn[] = []
  for (const [at, value] of contents.entries()) {
    const path = `contents[${at}]`
    const content = objectAt(value, path)
    if (!ROLES.has(content.role)) throw invalid(`${path}.role`, 'must be user or model.')
    noteUnknownFields(content, path, CONTENT_FIELDS, findings)
    const parts = parseParts(content.parts, `${path}.parts`, findings)
    const isModel = content.role === 'model'
    const last = turns.at(-1)
    if (last?.isModel !== isModel) turns.push({ isModel, parts: [...parts], at })
    else for (const part of parts) last.parts.push(part)
  }
  return turns
}

/** A single text is the content itself. */
function toContent(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? String(first.text) : parts
}

/** Some providers refuse an empty text. */
function withoutEmptyTexts(content: readonly ContentPart[]): ContentPart[] {
  return content.filter(({ type, text }) => type !== 'text' || text !== '')
}

/** Texts of one answer are one text: streams cut them at any place. */
function toAnswer(parts: ContentPart[]): string | ContentPart[] {
  return parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => String(text)).join('') : parts
}

/** Results of calls become messages of their own, before the user's. */
function addUser(parts: readonly ParsedPart[], pending: PendingCalls, messages: Message[]): void {
  let hasResults = false
  for (const { result } of parts) {
    if (result === undefined) continue
    messages.push(toResult(result, pending))
    hasResults = true
  }
  const content = withoutEmptyTexts(listContent(parts))
  if (content.length > 0 || !hasResults) messages.push({ role: 'user', content: toContent(content) })
}

/** A result names its call by an id, or by the name of the function alone. */
function toResult({ id: given, name, response, media }: ParsedResult, pending: PendingCalls): Message {
  const id = pending.take(given, name) ?? given ?? name
  const text = toJsonText(response)
  const content = media.length === 0 ? text : [{ type: 'text', text }, ...media]
  return { role: 'tool', tool_call_id: id, name, content }
}

function toAssistant({ parts, at }: Turn, pending: PendingCalls): Message {
  const details: ReasoningDetail[] = []
  const calls: ToolCall[] = []
  let thoughts = ''
  for (const { text = '', isThought, signature, call } of parts) {
    if (isThought === true) thoughts += text
    let id: string | undefined
    if (call !== undefined) {
      const toolCall = toCall(call, at, calls.length)
      calls.push(toolCall)
      pending.add(toolCall.id, toolCall.function.name)
      id = plainToolCallId(toolCall.id)
    }
    if (signature !== undefined && signature !== PLACEHOLDER) {
      details.push(markSandbox({ ...toSignature(signature, id), index: details.length }))
    }
  }
  const content = withoutEmptyTexts(listContent(parts))
  const message: Message = {
    role: 'assistant',
    content: content.length === 0 && calls.length > 0 ? null : toAnswer(content),
  }
  if (calls.length > 0) message.tool_calls = calls
  if (thoughts !== '') message.reasoning = thoughts
  // A signature in the format's own field was made by Google itself: no aggregator gets it.
  if (details.length > 0) message.reasoning_details = markDirect(details)
  return message
}

/** A call without an id gets the same one each time, so that the provider's cache of a conversation stays of use. */
function toCall({ id, name, args }: ParsedCall, turn: number, index: number): ToolCall {
  return {
    id: id ?? makeToolCallId('', turn, index, name),
    type: 'function',
    function: { name, arguments: toArgumentsText(args) },
  }
}
