import type { JsonObject } from '../../json/json-value.ts'
import { toObject, toObjects } from '../../json/json-value.ts'
import { makeInstance } from './schema-instance.ts'
import type { SandboxCall } from './speech.ts'

/** These call a tool of their own accord, the others only where the caller insists. */
const CALLING_MODELS: ReadonlySet<string> = new Set(['tools', 'reasoning'])

/**
 * The results of the calls in the last assistant message; empty: it made none, or a user has answered it since. A client
 * may add a user's words to the results in the same message, which then follow them.
 */
export function listResults(messages: readonly JsonObject[]): readonly JsonObject[] {
  const asked = messages.findLastIndex(({ role }) => role === 'assistant')
  return messages.slice(asked + 1).filter(({ role }) => role === 'tool')
}

/** The call that a model makes: of the tool that the caller names, or of the first; undefined: it makes none. */
export function chooseCall(
  model: string,
  body: JsonObject,
  messages: readonly JsonObject[],
): SandboxCall | undefined {
  const functions = toObjects(body.tools)
    .map(tool => toObject(tool.function))
    .filter(fn => fn !== undefined)
  const choice = body.tool_choice
  const named = toObject(toObject(choice)?.function)?.name
  const isForced = choice === 'required' || named !== undefined
  const isCalled = choice !== 'none' && (isForced || CALLING_MODELS.has(model))
  const chosen = isCalled ? (functions.find(({ name }) => name === named) ?? functions[0]) : undefined
  if (chosen === undefined) return undefined
  const args = makeInstance(chosen.parameters ?? { type: 'object', properties: {} })
  return { id: nextId(messages), name: String(chosen.name), arguments: JSON.stringify(toObject(args) ?? {}) }
}

/** Clients look a result's call up by its id, so each call of a conversation has another. */
function nextId(messages: readonly JsonObject[]): string {
  const callCount = messages.reduce((sum, { tool_calls: calls }) => sum + toObjects(calls).length, 0)
  return callCount === 0 ? 'call_sandbox' : `call_sandbox_${callCount + 1}`
}
