import type { JsonObject } from '../../../json/json-value.ts'
import { isObject, toObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { weighJson } from '../../../json/weigh-json.ts'

/**
 * What an answer repeats at most, in characters: the first two events of a stream and the last one have all of it. Editors' agents
 * send some ten thousand characters of instructions and up to a hundred thousand of tools.
 */
const MAX_ECHO = 256 * 1024

/** What stands in the place of a longer field. It says nothing of the request, as if the field had not been sent. */
const NOTHING: JsonObject = toTable(listRepeated({}))

/**
 * The fields of a parsed body that an answer repeats. Of a body that is longer than `MAX_ECHO` (`bytes`) those are left out that do not
 * fit together with the fields before them.
 */
export function toEcho(body: JsonObject, bytes: number): JsonObject {
  const echo = listRepeated(body)
  return bytes > MAX_ECHO ? fit(echo) : echo
}

function fit(echo: JsonObject): JsonObject {
  let room = MAX_ECHO
  const fitted: JsonObject = toTable({ ...echo })
  for (const name in echo) {
    const left = weighJson(echo[name], room)
    if (left >= 0) room = left
    else fitted[name] = NOTHING[name]
  }
  return fitted
}

function listRepeated(body: JsonObject): JsonObject {
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
