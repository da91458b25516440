import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FunctionTool } from '../../../request/tools.ts'
import { toInputSchema } from '../../shared/tools/input-schema.ts'

/** `takesStrict`: the model can be bound to the schemas of its tools. */
export function encodeTools(tools: readonly FunctionTool[], takesStrict: boolean): JsonObject[] {
  return tools.map(tool => {
    const { name, description, parameters, strict } = tool.function
    const cacheControl =
      toObject((tool as unknown as JsonObject).cache_control) ??
      toObject((tool.function as unknown as JsonObject).cache_control)
    return {
      name,
      ...(description === undefined || description === null ? {} : { description }),
      input_schema: toInputSchema(parameters),
      ...(strict === true && takesStrict ? { strict } : {}),
      ...(cacheControl === undefined ? {} : { cache_control: cacheControl }),
    }
  })
}

/** undefined: the field is left out. */
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

/** True if the model must call a tool. Models that think by a budget refuse that, models that think by effort do not. */
export function forcesTool({ toolChoice }: ChatRequest): boolean {
  return toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
}
