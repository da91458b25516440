import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Target } from '../../../upstream/target.ts'
import { withoutParameters } from '../../shared/requests/field-table.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { listRefused } from './model-rules.ts'
import { type ModelTraits, toModelTraits } from './model-traits.ts'
import { STRUCTURED_ANSWER } from './structured-answer.ts'

/** The request in this format, without what the model refuses and without options of the caller for this provider. */
export function encodeBody(received: ChatRequest, target: Target): JsonObject {
  const traits = toModelTraits(target.model)
  const request = withoutParameters(received, listRefused(received, traits))
  const maxTokens = toMaxTokens(request, target, traits)
  // Clouds do not document messages of the role `system` within the conversation.
  const takesSystemTurns = traits.takesSystemTurns && target.provider.messages === undefined
  const { system, messages } = encodeMessages(request.messages, { takesSystemTurns })
  const { thinking, effort } = encodeThinking(request, traits, maxTokens)
  // Thinking excludes a forced call, and some models refuse any.
  const canForce = !traits.refusesForcedCalls && (thinking === undefined || thinking.type === 'disabled')
  const format = encodeFormat(request, traits, canForce)
  const body: JsonObject = { model: target.model, messages }
  FIELDS.write(request, body)
  body.max_tokens = maxTokens
  const instructions = addInstruction(system, format?.instruction)
  if (instructions !== undefined) body.system = instructions
  if (request.stream) body.stream = true
  if (thinking !== undefined) body.thinking = thinking
  setOutputConfig(body, effort, format?.format)
  setTools(body, request, traits, format?.tool, canForce)
  return body
}

/** The format demands a cap: where the caller names none it is all that the model gives. */
function toMaxTokens(request: ChatRequest, target: Target, traits: ModelTraits): number {
  const max = target.maxOutputTokens
  const wanted = request.maxOutputTokens
  if (wanted === undefined) return max ?? traits.maxOutputTokens
  // The provider refuses a cap above the model's, though a lower one changes no answer.
  return max === undefined ? wanted : Math.min(wanted, max)
}

function addInstruction(
  system: string | JsonObject[] | undefined,
  instruction: string | undefined,
): string | JsonObject[] | undefined {
  if (instruction === undefined) return system
  if (system === undefined) return instruction
  if (typeof system === 'string') return `${system}\n\n${instruction}`
  return [...system, { type: 'text', text: instruction }]
}

function setOutputConfig(body: JsonObject, effort: string | undefined, format: JsonObject | undefined): void {
  if (effort === undefined && format === undefined) return
  const config: JsonObject = {}
  if (effort !== undefined) config.effort = effort
  if (format !== undefined) config.format = format
  body.output_config = config
}

function setTools(
  body: JsonObject,
  request: ChatRequest,
  { hasJsonSchema: takesStrict }: ModelTraits,
  answerTool: JsonObject | undefined,
  canForce: boolean,
): void {
  // The choice `none` would exclude the answer too, so the caller's tools are left out in its place.
  const isAlone = answerTool !== undefined && request.toolChoice === 'none'
  const own = isAlone ? [] : encodeTools(request.tools ?? [], takesStrict)
  const tools = answerTool === undefined ? own : [...own, answerTool]
  if (tools.length === 0) return
  body.tools = tools
  const choice =
    answerTool === undefined ? encodeToolChoice(request) : chooseAnswer(request, own.length, canForce)
  if (choice !== undefined) body.tool_choice = choice
}

/** Asks for one call of the answer tool; if the caller has tools too, for some call, of whichever tool comes first. */
function chooseAnswer(request: ChatRequest, ownTools: number, canForce: boolean): JsonObject | undefined {
  if (ownTools === 0) {
    const choice = canForce ? { type: 'tool', name: STRUCTURED_ANSWER } : { type: 'auto' }
    return { ...choice, disable_parallel_tool_use: true }
  }
  const isForced = typeof request.toolChoice === 'object'
  return encodeToolChoice(canForce && !isForced ? { ...request, toolChoice: 'required' } : request)
}
