import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { mergeOptions, toCallerOptions } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { isTemperatureChanged, listUnwritten } from '../../shared/adapted/temperature-scale.ts'
import { refusesForcedCalls } from '../../shared/claude/claude-limits.ts'
import type { EncodeRequest, ListUnsupportedParams } from '../../shared/client-format.ts'
import { toWellFormedBody } from '../../shared/reading/well-formed-json.ts'
import { listEffective, withoutNamed, withoutParameters } from '../../shared/requests/field-table.ts'
import { hasBlankStop } from '../../shared/requests/has-blank-stop.ts'
import { listLostExtras, listLostParts } from '../../shared/requests/lost-params.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeMessages } from './encode-messages.ts'
import { asksToThink, encodeReasoning } from './encode-reasoning.ts'
import { encodeTools } from './encode-tools.ts'
import { fitBudgets } from './fit-budgets.ts'
import { listRefused } from './model-rules.ts'
import { passRequest } from './pass-request.ts'

const PARTS: ReadonlySet<string> = new Set(['text', 'refusal', 'image_url', 'file', 'input_audio'])

/**
 * The canonical request as `POST /model/{id}/converse` or `…/converse-stream` takes it; a body of this format passes
 * through.
 */
export const encodeRequest: EncodeRequest = (request, target, source, dropped = []) => {
  const { model } = target
  const action = request.stream ? 'converse-stream' : 'converse'
  return {
    // The colon and slash of an ARN are encoded too. The signature covers the path encoded once more.
    ...joinAddress(target.baseUrl, `/model/${encodeURIComponent(model)}/${action}`),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'application/vnd.amazon.eventstream' : 'application/json',
    },
    ...(source?.format === 'bedrock-converse'
      ? passRequest(request, source, dropped)
      : translateBody(request, target, dropped)),
  }
}

function translateBody(
  request: ChatRequest,
  target: Target,
  dropped: readonly string[],
): Pick<EncodedRequest, 'body' | 'content' | 'emulated'> {
  const encoded = encodeBody(withoutNamed(request, listUnwritten(request, dropped)), target.model)
  const options = request.providerOptions?.[target.provider.id]
  const merged = withOwnCap(mergeOptions(encoded, options), request)
  const { fields } = fitBudgets(merged, request)
  const body = fields === undefined ? merged : { ...merged, additionalModelRequestFields: fields }
  return {
    body: toWellFormedBody(body),
    content: { rules: FIELDS.rules, value: body, options: toCallerOptions(target, options) },
    // Without `outputConfig` a tool of the gateway or an instruction asks for the schema.
    ...(asksForJson(request) && body.outputConfig === undefined ? { emulated: ['response_format'] } : {}),
  }
}

function asksForJson({ responseFormat }: ChatRequest): boolean {
  return responseFormat !== undefined && responseFormat.type !== 'text'
}

/** Sets the request's own output cap, or none: the gateway relies on it, so options may not bring another one. */
function withOwnCap(body: JsonObject, { maxOutputTokens }: ChatRequest): JsonObject {
  const { maxTokens: _, ...given } = toObject(body.inferenceConfig) ?? {}
  const inferenceConfig = maxOutputTokens === undefined ? given : { maxTokens: maxOutputTokens, ...given }
  const { inferenceConfig: _given, ...rest } = body
  return Object.keys(inferenceConfig).length === 0 ? rest : { ...rest, inferenceConfig }
}

function encodeBody(received: ChatRequest, model: string): JsonObject {
  const request = withoutParameters(received, listRefused(received, model))
  const canForce = !asksToThink(request, model) && !refusesForcedCalls(model)
  const { instruction, toolConfig, outputConfig } = encodeTools(request, model, canForce)
  const toolsAsText = toolConfig === undefined
  const { system, messages } = encodeMessages(request.messages, model, { toolsAsText })
  if (instruction !== undefined) system.push({ text: instruction })
  const body: JsonObject = { messages }
  FIELDS.write(request, body)
  if (system.length > 0) body.system = system
  if (toolConfig !== undefined) body.toolConfig = toolConfig
  if (outputConfig !== undefined) body.outputConfig = outputConfig
  const reasoning = encodeReasoning(request, model)
  if (reasoning !== undefined) body.additionalModelRequestFields = reasoning
  return body
}

/** See ClientFormat. The provider judges a body of its own format; a cap that the gateway lowered may leave no room to think. */
export const listUnsupportedParams: ListUnsupportedParams = (request, provider, model, source) => {
  if (source?.format === 'bedrock-converse') return fitBudgets(source.value, request).left
  const refused = listEffective(request, listRefused(request, model))
  const isNearest = isTemperatureChanged(request) && !refused.includes('temperature')
  return [
    ...FIELDS.listUnsupported(request),
    ...listLostExtras(request, []),
    ...refused,
    ...(isNearest ? ['temperature'] : []),
    ...listLostParts(request.messages, PARTS),
    ...(hasBlankStop(request) ? ['stop'] : []),
    ...fitBudgets(request.providerOptions?.[provider.id] ?? {}, request).left,
  ]
}
