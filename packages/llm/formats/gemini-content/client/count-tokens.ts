import { toObject } from '../../../json/json-value.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { JSON_HEADERS } from '../../../upstream/json-headers.ts'
import { FieldRules, type Rule } from '../../../upstream/outgoing-rules.ts'
import type { TokenCounter } from '../../shared/client-format.ts'
import { pickFields } from '../../shared/reading/pick-fields.ts'
import { toWellFormedBody } from '../../shared/reading/well-formed-json.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeRequest } from './encode-request.ts'

/** What Vertex AI's route takes, beside each other; AI Studio's takes the whole request as one field. */
const COUNTED_AT_VERTEX = ['contents', 'systemInstruction', 'tools', 'generationConfig']

/** A request of this format that names its model, as AI Studio demands here. */
const WHOLE: Rule = {
  check: (value, grant) => {
    const { model, ...body } = toObject(value) ?? {}
    if (model !== `models/${grant.model}`) return '.model'
    const found = FIELDS.rules.check(body, grant)
    return found === undefined ? undefined : `.${found}`
  },
}
const WRAPPED = new FieldRules([['generateContentRequest', WHOLE]], 'refused')

/** `:countTokens` of AI Studio and of Vertex AI. */
export const tokenCounter: TokenCounter = {
  canCount: () => true,
  encodeRequest: (request, target, source, dropped) => {
    const { provider, model } = target
    const whole = encodeRequest({ ...request, stream: false }, target, source, dropped)
    const isVertex = provider.modelPath !== undefined
    const value = isVertex
      ? pickFields(whole, COUNTED_AT_VERTEX)
      : { generateContentRequest: { ...whole.content?.value, model: `models/${model}` } }
    return {
      ...joinAddress(
        target.baseUrl,
        `${provider.modelPath ?? '/models'}/${encodeURIComponent(model)}:countTokens`,
      ),
      headers: { ...JSON_HEADERS },
      body: toWellFormedBody(value),
      content: { rules: isVertex ? FIELDS.rules : WRAPPED, value },
    }
  },
  // An empty count is left out, as every zero is in this API.
  decodeReply: ({ totalTokens: tokens = 0 }) =>
    typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined,
}
