import type { JsonObject } from '../../json/json-value.ts'
import type { SandboxSpeech } from './speech.ts'
import { wholeEnd } from './whole-end.ts'

/** The approximate number of pieces of a long text. A short one still comes in several. */
const PIECES = 24
const SHORTEST = 3

/** One speech as the chunks of a stream: the role, pieces, the reason to finish, and usage where it was asked for. */
export function toChunks(
  speech: SandboxSpeech,
  head: { readonly id: string; readonly created: number },
  includeUsage: boolean,
): JsonObject[] {
  const chunk = (choices: JsonObject[], usage: JsonObject | null): JsonObject => ({
    id: head.id,
    object: 'chat.completion.chunk',
    created: head.created,
    model: speech.model,
    choices,
    ...(includeUsage ? { usage } : {}),
  })
  const { reasoning, text, toolCall } = speech
  const chunks: JsonObject[] = []
  const step = (delta: JsonObject, finishReason: string | null = null): void => {
    for (let index = 0; index < speech.choices; index++) {
      chunks.push(chunk([{ index, delta, logprobs: null, finish_reason: finishReason }], null))
    }
  }
  step({ role: 'assistant', content: text === undefined ? null : '' })
  const thoughts = toPieces(reasoning?.text ?? '')
  for (const [at, piece] of thoughts.entries()) {
    const isLast = at === thoughts.length - 1
    // The signatures come with the last piece: alone, the text of their details would be read as more reasoning.
    const signed = isLast && reasoning !== undefined ? { reasoning_details: [...reasoning.details] } : {}
    step({ reasoning: piece, ...signed })
  }
  for (const content of toPieces(text ?? '')) step({ content })
  if (toolCall !== undefined) {
    const begin = { name: toolCall.name, arguments: '' }
    step({ tool_calls: [{ index: 0, id: toolCall.id, type: 'function', function: begin }] })
    for (const piece of toPieces(toolCall.arguments)) {
      step({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
    }
  }
  step({}, speech.finishReason)
  if (includeUsage) chunks.push(chunk([], speech.usage))
  return chunks
}

function toPieces(text: string): string[] {
  const size = Math.max(SHORTEST, Math.ceil(text.length / PIECES))
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = wholeEnd(text, at + size)
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}
