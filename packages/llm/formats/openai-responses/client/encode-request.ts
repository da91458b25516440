import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { toSentJson } from '../../../json/unwritten-json.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { toAddress, toWireModel } from '../../../upstream/openai-address.ts'
import { toCallerOptions } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import type { EncodeRequest } from '../../shared/client-format.ts'
import { findModelRule, listUnsupported } from '../../shared/reading/model-rules.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeBody } from './encode-body.ts'
import { passRequest } from './pass-request.ts'

const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/**
 * The canonical request as `POST /v1/responses` takes it; a body of this format passes through. `dropped` holds names of
 * parameters and paths that must not be sent.
 */
export const encodeRequest: EncodeRequest = (request, target, source, dropped = []) => {
  // The provider refuses these even with values that ask for nothing, which are not dropped by name.
  const refused = listUnsupported(target.provider.openai ?? {}, target.model, request)
  const omitted = [...dropped, ...refused]
  return {
    ...toAddress(target, '/responses'),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    },
    ...(source?.format === 'openai-responses'
      ? passRequest(request, target, source, omitted)
      : translateBody(request, target, omitted)),
  }
}

function translateBody(
  request: ChatRequest,
  target: Target,
  dropped: readonly string[],
): Pick<EncodedRequest, 'body' | 'content'> {
  const deviations = target.provider.openai ?? {}
  const body = encodeBody(request, target.provider, dropped)
  body.model = toWireModel(target)
  if (findModelRule(deviations, target.model)?.reasons === true) body.include = [ENCRYPTED_REASONING]
  const options = request.providerOptions?.[target.provider.id]
  const merged = options === undefined ? body : withOptions(body, options)
  return {
    body: toSentJson(merged),
    content: { rules: FIELDS.rules, value: merged, options: toCallerOptions(target, options) },
  }
}

/** The caller's options for this provider, which may name parameters as chat completions do. */
function withOptions(body: JsonObject, { reasoning_effort, verbosity, ...options }: JsonObject): JsonObject {
  const merged: JsonObject = { ...body, ...options }
  if (reasoning_effort !== undefined) {
    merged.reasoning = { ...toObject(merged.reasoning), effort: reasoning_effort }
  }
  if (verbosity !== undefined) merged.text = { ...toObject(merged.text), verbosity }
  return merged
}
