import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { toObject, toObjects, toText } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'

/**
 * Returns the request with a `tool_choice` that the format supports, or undefined if no change is needed.
 * `allowed_tools` is replaced by sending only those tools; other unsupported forms are removed.
 */
export function fitToolChoice(whole: ChatRequest, format: ClientFormat): ChatRequest | undefined {
  if (typeof whole.toolChoice !== 'object' || format.takesEveryToolChoice === true) return undefined
  const choice = whole.toolChoice as unknown as JsonObject
  if (choice.type === 'function') return undefined
  const { toolChoice: _choice, ...request } = whole
  const allowed = choice.type === 'allowed_tools' ? toObject(choice.allowed_tools) : undefined
  const names = new Set(toObjects(allowed?.tools).map(tool => toText(toObject(tool.function)?.name)))
  const tools = whole.tools?.filter(({ function: { name } }) => names.has(name)) ?? []
  if (allowed === undefined || tools.length === 0) return request
  return { ...request, tools, toolChoice: allowed.mode === 'required' ? 'required' : 'auto' }
}

/** Whether fitToolChoice removed the choice. */
export function isChoiceDropped(whole: ChatRequest, fitted: ChatRequest | undefined): boolean {
  return fitted !== undefined && whole.toolChoice !== undefined && fitted.toolChoice === undefined
}
