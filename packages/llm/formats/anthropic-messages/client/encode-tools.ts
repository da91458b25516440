import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FunctionTool } from '../../../request/tools.ts'

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

export function encodeTools(tools: readonly FunctionTool[]): JsonObject[] {
  return tools.map(tool => {
    const { name, description, parameters, strict } = tool.function
    const cacheControl =
      toObject((tool as unknown as JsonObject).cache_control) ??
      toObject((tool.function as unknown as JsonObject).cache_control)
    return {
      name,
      ...(description === undefined || description === null ? {} : { description }),
      input_schema: toInputSchema(parameters),
      ...(strict === true ? { strict } : {}),
      ...(cacheControl === undefined ? {} : { cache_control: cacheControl }),
    }
  })
}

/** The schema of an input has to say that it is an object. */
function toInputSchema(parameters: JsonObject | null | undefined): JsonObject {
  if (parameters === undefined || parameters === null) return NO_PARAMETERS
  return parameters.type === undefined ? { type: 'object', ...parameters } : parameters
}

/** undefined: nothing has to be said. */
export function encodeToolChoice({ toolChoice, parallelToolCalls }: ChatRequest): JsonObject | undefined {
  const choice = toChoice(toolChoice)
  if (parallelToolCalls !== false || choice?.type === 'none') return choice
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function toChoice(choice: ChatRequest['toolChoice']): JsonObject | undefined {
  if (choice === undefined) return undefined
  if (choice === 'required') return { type: 'any' }
  if (typeof choice === 'string') return { type: choice }
  return { type: 'tool', name: choice.function.name }
}

/** Is a call demanded, which no model does while it thinks by a budget? One that thinks by effort does (recorded). */
export function forcesTool({ toolChoice }: ChatRequest): boolean {
  return toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
}
