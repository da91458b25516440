import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObjects, toText } from '../../../json/json-value.ts'
import type { OpenAiDeviations } from '../../../provider/openai-deviations.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import type { FunctionTool } from '../../../request/tools.ts'

/**
 * A request that came in another format without what OpenAI's has no place for: marks of caching, marks on results, and
 * reasoning that only its maker reads. A result is text here: its images follow in a message of the user.
 */
export function toPlainRequest(request: ChatRequest, { reasoningField }: OpenAiDeviations): ChatRequest {
  const messages: Message[] = []
  let shown: ContentPart[] = []
  const show = (): void => {
    if (shown.length > 0) messages.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of request.messages) {
    if (message.role !== 'tool') show()
    const { parts, rest } = splitParts(message)
    shown.push(...rest)
    messages.push(toPlainMessage(message, parts, reasoningField !== undefined))
  }
  show()
  const tools = request.tools?.map(toPlainTool)
  return { ...request, messages, ...(tools === undefined ? {} : { tools }) }
}

interface Split {
  /** undefined: the content is no list. */
  readonly parts: ContentPart[] | undefined
  /** Parts that the result of a tool may not have. */
  readonly rest: readonly ContentPart[]
}

function splitParts({ role, content }: Message): Split {
  if (!Array.isArray(content)) return { parts: undefined, rest: [] }
  const parts = content.map(({ cache_control: _control, ...part }) => part as ContentPart)
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
  const isText = parts?.every(({ type }) => type === 'text') === true && message.role !== 'user'
  const content = isText ? parts.map(({ text }) => toText(text) ?? '').join('\n') : (parts ?? plain.content)
  return {
    ...plain,
    ...(content === undefined ? {} : { content: isError === true ? `Error: ${String(content)}` : content }),
    ...(handed.length === 0 ? {} : { reasoning_details: handed }),
    ...(keepsReasoning && reasoning !== undefined ? { reasoning } : {}),
  }
}

function toPlainTool(tool: FunctionTool): FunctionTool {
  const { cache_control: _control, ...plain } = tool as unknown as JsonObject
  return plain as unknown as FunctionTool
}
