import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { toResultContent } from '../../shared/errors/error-content.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { listFunctionCalls } from '../../shared/tools/function-calls.ts'
import { toArgumentsOrWrapped } from '../../shared/tools/tool-arguments.ts'

/** Types of parts that the format has a place for. */
export const PARTS: ReadonlySet<string> = new Set(['text', 'refusal', 'image_url'])

/** Encodes messages: images stand beside the text, arguments of calls are objects, and results name their tool. */
export function encodeMessages(messages: readonly Message[]): JsonObject[] {
  const names = new Map<string, string>()
  return messages.map(message => {
    const calls = listFunctionCalls(message)
    for (const call of calls) names.set(call.id, call.function.name)
    const encoded: JsonObject = {
      role: message.role === 'developer' ? 'system' : message.role,
      ...encodeContent(toResultContent(message)),
    }
    if (calls.length > 0) encoded.tool_calls = calls.map(encodeCall)
    if (message.role === 'assistant' && typeof message.reasoning === 'string')
      encoded.thinking = message.reasoning
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? ''
      encoded.tool_call_id = plainToolCallId(id)
      const name = names.get(id)
      if (name !== undefined) encoded.tool_name = name
    }
    return encoded
  })
}

function encodeContent(content: string | readonly ContentPart[] | null | undefined): JsonObject {
  if (content === null || content === undefined) return { content: '' }
  if (typeof content === 'string') return { content }
  const text = content
    .map(part => (part.type === 'image_url' ? '' : (toText(part[part.type]) ?? '')))
    .join('')
  const images = content.filter(({ type }) => type === 'image_url').map(encodeImage)
  return images.length === 0 ? { content: text } : { content: text, images }
}

/** The image in base64. The gateway has fetched images with an address before (ClientFormat.inlinesImages). */
function encodeImage(part: ContentPart): string {
  const url = toText(toObject(part.image_url)?.url) ?? ''
  return url.slice(url.indexOf(',') + 1)
}

function encodeCall({ id, function: fn }: ToolCall): JsonObject {
  return {
    id: plainToolCallId(id),
    function: { name: fn.name, arguments: toArgumentsOrWrapped(fn.arguments) },
  }
}
