import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { OwnFindings } from '../../shared/body-findings.ts'
import { noFindings } from '../../shared/findings.ts'
import { CONVERSE_METADATA, parseLogMetadata } from '../../shared/log-metadata.ts'
import { optionalNumber, optionalObject, set } from '../../shared/read-fields.ts'
import { refuseReservedFields, refuseReservedOptions } from '../../shared/reserved-fields.ts'
import { INFERENCE_FIELDS, KNOWN_FIELDS } from '../client/known-fields.ts'
import { checkMessages, checkSettings, checkTools } from './check-fields.ts'
import { decodeRequest } from './decode-request.ts'

const OBJECTS: ReadonlySet<string> = new Set(['inferenceConfig'])
/** Of a model's own fields those that the gateway reads. */
const READ_FIELDS: ReadonlySet<string> = new Set([
  'thinking',
  'reasoning_config',
  'reasoningConfig',
  'reasoning_effort',
  'output_config',
  'top_k',
])

export function findUnknownField(body: JsonObject): string | undefined {
  return (
    findOther(body, KNOWN_FIELDS) ??
    findOther(optionalObject(body, 'inferenceConfig'), INFERENCE_FIELDS, 'inferenceConfig.') ??
    findOther(
      optionalObject(body, 'additionalModelRequestFields'),
      READ_FIELDS,
      'additionalModelRequestFields.',
    )
  )
}

function findOther(
  fields: JsonObject | undefined,
  known: ReadonlySet<string>,
  path = '',
): string | undefined {
  for (const name in fields) if (!known.has(name) && fields[name] !== null) return path + name
  return undefined
}

/**
 * `POST {bedrock prefix}/model/{model}/converse` in AWS's own shape, and the same with a stream for an answer; see
 * parseCompatChat. The path names the model.
 */
function parseConverse(body: JsonObject, model: string, stream: boolean): OwnFindings {
  refuseReservedFields(body, KNOWN_FIELDS, undefined, OBJECTS)
  checkMessages(body)
  checkTools(body)
  checkSettings(body)
  const inference = optionalObject(body, 'inferenceConfig') ?? {}
  refuseReservedFields(inference, INFERENCE_FIELDS, 'inferenceConfig')
  const extra = optionalObject(body, 'additionalModelRequestFields')
  if (extra !== undefined) refuseReservedOptions(extra, 'additionalModelRequestFields')
  const { asked, nativeOnly } = decodeRequest(body)
  const request: { -readonly [K in keyof ChatRequest]: ChatRequest[K] } = {
    ...asked,
    model,
    stream,
    includeUsage: true,
  }
  const cap = { min: 1, integer: true }
  set(request, 'maxOutputTokens', optionalNumber(inference, 'maxTokens', cap, 'inferenceConfig.maxTokens'))
  set(request, 'temperature', optionalNumber(inference, 'temperature', {}, 'inferenceConfig.temperature'))
  set(request, 'topP', optionalNumber(inference, 'topP', {}, 'inferenceConfig.topP'))
  return {
    request,
    metadata: parseLogMetadata(body.requestMetadata, CONVERSE_METADATA),
    timeoutMs: undefined,
    spellings: toSpelled(extra),
    findings: { ...noFindings(), nativeOnly: [...nativeOnly] },
  }
}

const SPELLED: ReadonlyMap<string, string> = new Map([
  ['temperature', 'inferenceConfig.temperature'],
  ['top_p', 'inferenceConfig.topP'],
  ['stop', 'inferenceConfig.stopSequences'],
  ['tool_choice', 'toolConfig.toolChoice'],
  ['response_format', 'outputConfig.textFormat'],
])

/** Each maker has a word of its own for how much its models reason. */
function toSpelled(extra: JsonObject | undefined): ReadonlyMap<string, string> {
  const name = Object.keys(extra ?? {}).find(each => READ_FIELDS.has(each) && each !== 'top_k')
  if (name === undefined) return SPELLED
  return new Map([...SPELLED, ['reasoning_effort', `additionalModelRequestFields.${name}`]])
}

export function parseConversePlain(body: JsonObject, model: string): OwnFindings {
  return parseConverse(body, model, false)
}

export function parseConverseStream(body: JsonObject, model: string): OwnFindings {
  return parseConverse(body, model, true)
}
