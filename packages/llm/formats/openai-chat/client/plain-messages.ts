import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObjects, toText } from '../../../json/json-value.ts'
import type { OpenAiDeviations, OpenAiModelRule } from '../../../provider/openai-deviations.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import type { FunctionTool } from '../../../request/tools.ts'
import { toErrorContent } from '../../shared/errors/error-content.ts'
import { isFileByAddress } from '../../shared/requests/lost-params.ts'

/**
 * A request that came in another format without what OpenAI's has no place for: marks of caching unless the provider takes them, marks on
 * results, files by their address, and reasoning that only its maker reads. A result is text here: its images follow in a message of
 * the user. Messages of the user in a row become one, since some providers require that roles alternate.
 */
export function toPlainRequest(
  request: ChatRequest,
  { reasoningField, refusesUserAfterTool, takesCacheMarks = false }: OpenAiDeviations,
  rule: OpenAiModelRule | undefined,
): ChatRequest {
  const messages: Message[] = []
  let shown: ContentPart[] = []
  const show = (): void => {
    if (shown.length > 0) messages.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of request.messages) {
    if (message.role !== 'tool') show()
    const marked = takesCacheMarks ? withMarkOnPart(message) : message
    const { parts, rest } = splitParts(marked, takesCacheMarks)
    shown.push(...rest)
    messages.push(toPlainMessage(marked, parts, reasoningField !== undefined))
  }
  show()
  const tools = takesCacheMarks ? request.tools : request.tools?.map(toPlainTool)
  const mustAnswer = (refusesUserAfterTool ?? rule?.refusesUserAfterTool) === true
  const ordered = orderMessages(messages, mustAnswer)
  return { ...request, messages: ordered, ...(tools === undefined ? {} : { tools }) }
}

/** An empty message is refused too. */
const ANSWER: Message = { role: 'assistant', content: 'OK.' }

function orderMessages(messages: readonly Message[], mustAnswer: boolean): Message[] {
  const runs: { readonly first: Message; readonly all: Message[] }[] = []
  for (const message of messages) {
    const run = runs.at(-1)
    const isSame = message.role === 'user' && run?.first.role === 'user' && run.first.name === message.name
    if (isSame) run.all.push(message)
    else runs.push({ first: message, all: [message] })
  }
  const ordered: Message[] = []
  for (const { first, all } of runs) {
    if (mustAnswer && first.role === 'user' && ordered.at(-1)?.role === 'tool') ordered.push(ANSWER)
    ordered.push(all.length === 1 ? first : { ...first, content: joinContents(all) })
  }
  return ordered
}

function joinContents(messages: readonly Message[]): string | ContentPart[] {
  const contents = messages.map(({ content }) => content ?? '')
  if (contents.every(content => typeof content === 'string')) return contents.join('\n\n')
  return contents.flatMap(content =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  )
}

interface SplitContent {
  /** undefined: the content is no list. */
  readonly parts: ContentPart[] | undefined
  /** Parts that the result of a tool may not have. */
  readonly rest: readonly ContentPart[]
}

/** The message with a mark that stands on a result of a tool on its last part, where chat completions have it. */
function withMarkOnPart(message: Message): Message {
  const { cache_control: mark, content } = message
  if (mark === undefined || mark === null) return message
  const parts: ContentPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  const last = parts.findLastIndex(({ type }) => type === 'text')
  if (last < 0) return message
  const marked = parts.map((part, at) =>
    at === last ? { ...part, cache_control: part.cache_control ?? (mark as Json) } : part,
  )
  return { ...message, content: marked }
}

function splitParts({ role, content }: Message, keepsMarks: boolean): SplitContent {
  if (!Array.isArray(content)) return { parts: undefined, rest: [] }
  const own = content.filter(part => !isFileByAddress(part))
  const parts = keepsMarks ? own : own.map(({ cache_control: _control, ...part }) => part as ContentPart)
  if (role !== 'tool') return { parts, rest: [] }
  return {
    parts: parts.filter(({ type }) => type === 'text'),
    rest: parts.filter(({ type }) => type !== 'text'),
  }
}

function toPlainMessage(
  message: Message,
  parts: ContentPart[] | undefined,
  keepsReasoning: boolean,
): Message {
  const {
    reasoning_details: details,
    cache_control: _control,
    is_error: isError,
    reasoning,
    ...plain
  } = message
  const handed = toObjects(details as Json | undefined).filter(({ via }) => via !== undefined)
  // Many servers take lists of parts from users only.
  const isText = parts?.every(isPlainText) === true && message.role !== 'user'
  const content = isText ? parts.map(({ text }) => toText(text) ?? '').join('\n') : (parts ?? plain.content)
  return {
    ...plain,
    ...(content === undefined ? {} : { content: isError === true ? toErrorContent(content) : content }),
    ...(handed.length === 0 ? {} : { reasoning_details: handed }),
    ...(keepsReasoning && reasoning !== undefined ? { reasoning } : {}),
  }
}

function isPlainText({ type, cache_control: mark }: ContentPart): boolean {
  return type === 'text' && mark === undefined
}

function toPlainTool(tool: FunctionTool): FunctionTool {
  const { cache_control: _control, ...plain } = tool as unknown as JsonObject
  return plain as unknown as FunctionTool
}
