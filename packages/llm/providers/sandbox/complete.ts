import type { Json, JsonObject } from '../../json/json-value.ts'
import { toObject, toObjects } from '../../json/json-value.ts'
import { answerSandbox } from './answer.ts'
import type { SandboxAnswer } from './sandbox-answer.ts'

/** The most texts or tokens of a prompt that are repeated. */
const MAX_ITEMS = 256

/** The sandbox's answer to `POST /completions`: that of a chat with the prompt as its message, in the other shape. */
export function completeSandbox(body: JsonObject): SandboxAnswer {
  const { prompt, ...rest } = body
  const content = typeof prompt === 'string' ? prompt : JSON.stringify(prompt ?? '', cutList)
  const answered = answerSandbox(String(body.model), { ...rest, messages: [{ role: 'user', content }] })
  if (answered.kind === 'reply') return { ...answered, body: toCompletion(answered.body as JsonObject) }
  if (answered.kind !== 'stream') return answered
  return { ...answered, events: answered.events.map(toCompletionEvent) }
}

function cutList(_name: string, value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS) : value
}

function toCompletionEvent(event: string): string {
  return event.startsWith('{') ? JSON.stringify(toCompletion(JSON.parse(event) as JsonObject)) : event
}

/** An answer or a chunk of one. An error has no choices and stays as it is. */
function toCompletion(chat: JsonObject): JsonObject {
  if (!Array.isArray(chat.choices)) return chat
  const choices: Json[] = toObjects(chat.choices).map(choice => ({
    index: choice.index,
    text: toObject(choice.message ?? choice.delta)?.content ?? '',
    logprobs: null,
    finish_reason: choice.finish_reason,
  }))
  return { ...chat, object: 'text_completion', choices }
}
