import type { JsonObject } from '../../../json/json-value.ts'
import type { MessagesEnvelope } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { toCallerOptions } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { listUnwritten } from '../../shared/adapted/temperature-scale.ts'
import type { EncodeRequest } from '../../shared/client-format.ts'
import { toWellFormedBody } from '../../shared/reading/well-formed-json.ts'
import { fitThinking } from '../../shared/reasoning/fit-thinking.ts'
import { withoutNamed } from '../../shared/requests/field-table.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeBody } from './encode-body.ts'
import { listRefusedFields } from './model-rules.ts'
import { toModelTraits } from './model-traits.ts'
import { passRequest } from './pass-request.ts'
import { PASSED_ON } from './unsupported-params.ts'

const VERSION = '2023-06-01'

/** The canonical request as `POST /v1/messages` takes it, or a cloud's route; a body of this format passes through. */
export const encodeRequest: EncodeRequest = (request, target, source, dropped = []) => {
  const isSameFormat = source?.format === 'anthropic-messages'
  const { model, provider } = target
  const envelope = provider.messages
  const version = envelope === undefined ? {} : { anthropic_version: envelope.version }
  const encoded = isSameFormat
    ? passRequest(
        request,
        envelope === undefined ? model : undefined,
        source,
        // Also with values that ask for nothing, which are not dropped by name.
        [...dropped, ...listRefusedFields(source.value, toModelTraits(model))],
        version,
      )
    : toBody(request, target, dropped)
  const headers = encodeHeaders(request.stream, isSameFormat ? source.headers : undefined)
  if (envelope !== undefined) delete headers['anthropic-version']
  return {
    ...joinAddress(target.baseUrl, toPath(envelope, model, request.stream)),
    headers,
    ...encoded,
  }
}

function toPath(envelope: MessagesEnvelope | undefined, model: string, isStream: boolean): string {
  if (envelope === undefined) return '/messages'
  const path = isStream ? envelope.streamedPath : envelope.plainPath
  return path.replace('{model}', encodeURIComponent(model))
}

/** `given`: the version and betas that the caller chose, in a body of this format. */
export function encodeHeaders(
  isStream: boolean,
  given: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: isStream ? 'text/event-stream' : 'application/json',
    'anthropic-version': VERSION,
    ...given,
  }
}

function toBody(
  request: ChatRequest,
  target: Target,
  dropped: readonly string[],
): Pick<EncodedRequest, 'body' | 'content' | 'emulated'> {
  const encoded = encodeBody(withoutNamed(request, listUnwritten(request, dropped)), target)
  if (request.extra !== undefined) {
    for (const name of PASSED_ON) {
      const value = dropped.includes(name) ? undefined : request.extra.get(name)
      if (value !== undefined) encoded[name] = value
    }
  }
  const options = request.providerOptions?.[target.provider.id]
  const body: JsonObject = { ...encoded, ...options }
  const thinking = fitThinking(body.thinking, encoded.max_tokens as number, undefined)
  if (thinking === undefined) delete body.thinking
  else body.thinking = thinking
  const envelope = target.provider.messages
  if (envelope !== undefined) {
    delete body.model
    body.anthropic_version = envelope.version
  }
  const isEmulated =
    isFormatted(request) && (body.output_config as JsonObject | undefined)?.format === undefined
  return {
    body: toWellFormedBody(body),
    content: { rules: FIELDS.rules, value: body, options: toCallerOptions(target, options) },
    ...(isEmulated ? { emulated: ['response_format'] } : {}),
  }
}

function isFormatted({ responseFormat }: ChatRequest): boolean {
  return responseFormat !== undefined && responseFormat.type !== 'text'
}
