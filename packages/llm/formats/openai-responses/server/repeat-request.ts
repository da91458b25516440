import type { JsonObject } from '../../../json/json-value.ts'
import { isObject, toObject } from '../../../json/json-value.ts'

/** The fields of a parsed body that an answer repeats. */
export function toEcho(body: JsonObject): JsonObject {
  const text = toObject(body.text) ?? {}
  const reasoning = toObject(body.reasoning) ?? {}
  const sent = Array.isArray(body.tools) ? body.tools : []
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: isObject(body.metadata) ? body.metadata : {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    temperature: body.temperature ?? null,
    text: {
      format: text.format ?? { type: 'text' },
      ...(text.verbosity == null ? {} : { verbosity: text.verbosity }),
    },
    tool_choice: body.tool_choice ?? 'auto',
    tools: sent.map(tool => (isObject(tool) && tool.type === 'function' ? echoFunction(tool) : tool)),
    top_p: body.top_p ?? null,
  }
}

/** OpenAI's published schema requires these two fields. */
function echoFunction(tool: JsonObject): JsonObject {
  return { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? null }
}
