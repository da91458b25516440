import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import { toJsonInstruction } from '../../shared/adapted/json-instruction.ts'
import { isBeforeGemini3 } from '../wire/generation.ts'

/**
 * Returns the request as the model takes it. Before Gemini 3 a request with functions may not name a response format, so
 * its instructions ask for one. Functions that may not be called are left out instead.
 */
export function emulateFormat(request: ChatRequest, model: string): ChatRequest {
  const { responseFormat, ...others } = request
  const hasFunctions = request.tools !== undefined && request.tools.length > 0
  if (!hasFunctions || responseFormat === undefined || responseFormat.type === 'text') return request
  if (!isBeforeGemini3(model)) return request
  if (request.toolChoice === 'none') {
    const { tools: _, ...rest } = request
    return rest
  }
  const schema = responseFormat.type === 'json_schema' ? responseFormat.json_schema.schema : undefined
  const content = `Call functions as needed. ${toJsonInstruction(schema ?? undefined)}`
  const instruction: Message = { role: 'system', content }
  return { ...others, messages: withLeading(request.messages, instruction) }
}

/** Behind the instructions at the beginning, so that it is one of them at each turn. */
function withLeading(messages: readonly Message[], instruction: Message): readonly Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  return messages.toSpliced(first === -1 ? messages.length : first, 0, instruction)
}
