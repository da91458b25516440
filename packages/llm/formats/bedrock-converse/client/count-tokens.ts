import { joinAddress } from '../../../upstream/join-address.ts'
import { JSON_HEADERS } from '../../../upstream/json-headers.ts'
import { FieldRules, toFieldsRule, toObjectRule } from '../../../upstream/outgoing-rules.ts'
import type { TokenCounter } from '../../shared/client-format.ts'
import { pickFields } from '../../shared/reading/pick-fields.ts'
import { toWellFormedBody } from '../../shared/reading/well-formed-json.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeRequest } from './encode-request.ts'
import { toModelFamily } from './model-family.ts'

/** The fields of a Converse request that the route takes. */
const COUNTED = ['messages', 'system', 'toolConfig', 'additionalModelRequestFields']
const RULES = new FieldRules(
  [['input', toObjectRule({ converse: toFieldsRule(FIELDS.rules) }, 'refused')]],
  'refused',
)

/** The route knows models by their own names only, not by those of inference profiles. */
const PROFILE = /^(?:us|eu|apac|jp|au|ca|sa|me|af|us-gov|global)\./

/** Bedrock's `CountTokens`, which it has for Claude. */
export const tokenCounter: TokenCounter = {
  canCount: ({ model }) => toModelFamily(model) === 'claude' && !model.startsWith('arn:'),
  encodeRequest: (request, target, source, dropped) => {
    const whole = encodeRequest({ ...request, stream: false }, target, source, dropped)
    const value = { input: { converse: pickFields(whole, COUNTED) } }
    const model = target.model.replace(PROFILE, '')
    return {
      ...joinAddress(target.baseUrl, `/model/${encodeURIComponent(model)}/count-tokens`),
      headers: { ...JSON_HEADERS },
      body: toWellFormedBody(value),
      content: { rules: RULES, value },
    }
  },
  decodeReply: ({ inputTokens: tokens }) =>
    typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined,
  isLacking: ({ kind, detail }) =>
    kind === 'model_not_found' || /doesn.t support counting tokens/i.test(detail.slice(0, 1000)),
}
