import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { OwnFindings } from '../../shared/body-findings.ts'
import { noFindings, type TargetFindings } from '../../shared/findings.ts'
import { OPENAI_METADATA, parseLogMetadata } from '../../shared/log-metadata.ts'
import {
  invalid,
  isObject,
  objectAt,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  set,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseOtherTier, refuseReservedFields } from '../../shared/reserved-fields.ts'
import { KNOWN_FIELDS, STATE_FIELDS } from '../client/known-fields.ts'
import {
  findSearchTool,
  parseResponsesToolChoice,
  parseResponsesTools,
  type ResponsesTools,
} from './check-tools.ts'
import { parseInput } from './read-input.ts'

const OWN: ReadonlySet<string> = new Set([...KNOWN_FIELDS, ...STATE_FIELDS, 'prompt'])

/** `POST {prefix}/v1/responses` in OpenAI's own shape; see parseCompatChat. */
export function parseResponses(body: JsonObject): OwnFindings {
  refuseReservedFields(body, OWN)
  refuseOtherTier(body.service_tier)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  refuseUnbilled(body)
  const findings = noFindings()
  const text = optionalObject(body, 'text') ?? {}
  const reasoning = optionalObject(body, 'reasoning') ?? {}
  const tools = parseResponsesTools(body.tools, findings)
  const request: { -readonly [K in keyof ChatRequest]: ChatRequest[K] } = {
    model,
    messages: parseMessages(body, findings),
    stream: optionalFlag(body, 'stream') ?? false,
    includeUsage: true,
  }
  const toolChoice = parseResponsesToolChoice(body.tool_choice, findings)
  // An empty list is refused by many, and so is a choice among none.
  if (tools.tools !== undefined && tools.tools.length > 0) {
    set(request, 'tools', tools.tools)
    set(request, 'toolChoice', toolChoice)
  }
  set(request, 'parallelToolCalls', optionalFlag(body, 'parallel_tool_calls'))
  set(request, 'responseFormat', parseFormat(text))
  set(request, 'maxOutputTokens', optionalNumber(body, 'max_output_tokens', { min: 1, integer: true }))
  set(request, 'temperature', optionalNumber(body, 'temperature'))
  set(request, 'topP', optionalNumber(body, 'top_p'))
  set(request, 'reasoningEffort', optionalText(reasoning, 'effort', 'reasoning.effort'))
  set(request, 'user', optionalText(body, 'user'))
  findNativeOnly(body, text, reasoning, findings)
  return {
    request,
    metadata: parseLogMetadata(body.metadata, OPENAI_METADATA),
    timeoutMs: undefined,
    findings,
    repeated: { echo: toEcho(body, text, reasoning, tools), toolKinds: tools.kinds },
  }
}

/** A field of state, one that we do not read, or a tool that the provider runs: client tokens may send none of them. */
export function findPassedOnResponses(body: JsonObject): string | undefined {
  for (const name in body) if (!KNOWN_FIELDS.has(name) && body[name] !== null) return name
  return findSearchTool(body)
}

function refuseUnbilled(body: JsonObject): void {
  if (optionalFlag(body, 'background') === true) {
    throw invalid('background', 'must be false: an answer that is fetched later cannot be billed.')
  }
  if (body.prompt !== undefined && body.prompt !== null) {
    throw invalid('prompt', 'may not be set here: a stored prompt brings its own model, messages and tools.')
  }
}

function parseMessages(body: JsonObject, findings: TargetFindings): Message[] {
  const instructions = optionalText(body, 'instructions')
  const messages = parseInput(body.input, findings)
  return instructions === undefined || instructions === ''
    ? messages
    : [{ role: 'system', content: instructions }, ...messages]
}

/** The schema of a format stands beside its type here, below `json_schema` in the canonical request. */
function parseFormat(text: JsonObject): ResponseFormat | undefined {
  const format = optionalObject(text, 'format', 'text.format')
  if (format === undefined) return undefined
  const type = textAt(format.type, 'text.format.type')
  if (type !== 'json_schema') return { type } as ResponseFormat
  const description = optionalText(format, 'description', 'text.format.description')
  return {
    type,
    json_schema: {
      name: textAt(format.name, 'text.format.name'),
      schema: objectAt(format.schema, 'text.format.schema'),
      ...(typeof format.strict === 'boolean' ? { strict: format.strict } : {}),
      ...(description === undefined ? {} : { description }),
    },
  }
}

/** What changes an answer and has no counterpart in other formats. */
function findNativeOnly(
  body: JsonObject,
  text: JsonObject,
  reasoning: JsonObject,
  findings: TargetFindings,
): void {
  const add = (name: string, isSet: boolean): void => {
    if (isSet) findings.nativeOnly.push(name)
  }
  for (const name of STATE_FIELDS)
    if (body[name] !== undefined && body[name] !== null) findings.stateful.push(name)
  for (const name in body) {
    if (!KNOWN_FIELDS.has(name) && !STATE_FIELDS.includes(name)) add(name, body[name] !== null)
  }
  add('store', optionalFlag(body, 'store') === true)
  add('truncation', (body.truncation ?? 'disabled') !== 'disabled')
  add('top_logprobs', (optionalNumber(body, 'top_logprobs') ?? 0) > 0)
  add('include', Array.isArray(body.include) && body.include.includes('message.output_text.logprobs'))
  for (const name of ['mode', 'context']) {
    add(`reasoning.${name}`, (reasoning[name] ?? 'auto') !== 'auto')
  }
  add('text.verbosity', (text.verbosity ?? 'medium') !== 'medium')
}

/** What an answer repeats of its request. */
function toEcho(
  body: JsonObject,
  text: JsonObject,
  reasoning: JsonObject,
  { tools }: ResponsesTools,
): JsonObject {
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
    tools:
      tools === undefined
        ? []
        : sent.map(tool => (isObject(tool) && tool.type === 'function' ? echoFunction(tool) : tool)),
    top_p: body.top_p ?? null,
  }
}

function echoFunction(tool: JsonObject): JsonObject {
  return { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? null }
}
