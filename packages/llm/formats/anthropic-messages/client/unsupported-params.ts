import { isTemperatureChanged } from '../../shared/adapted/temperature-scale.ts'
import type { ListUnsupportedParams } from '../../shared/client-format.ts'
import { fitThinking } from '../../shared/reasoning/fit-thinking.ts'
import { listEffective } from '../../shared/requests/field-table.ts'
import { isHarmless } from '../../shared/requests/harmless-params.ts'
import { listLostExtras } from '../../shared/requests/lost-params.ts'
import { FIELDS } from '../wire/fields.ts'
import { listUnknownParts } from './encode-parts.ts'
import { listRefused, listRefusedFields } from './model-rules.ts'
import { toModelTraits } from './model-traits.ts'

const TOP_K = 'top_k'
const UNSAMPLED: readonly string[] = ['cache_control', 'thinking']
/** Fields of this format that a caller of OpenAI's may send beside its own: they go out as they are. Some models have no `top_k`. */
export const PASSED_ON: readonly string[] = [TOP_K, ...UNSAMPLED]

/** See ClientFormat. The provider itself judges a body of its own format, except fields that only steer sampling. */
export const listUnsupportedParams: ListUnsupportedParams = (request, provider, model, source) => {
  const traits = toModelTraits(model)
  if (source?.format === 'anthropic-messages') {
    const { value } = source
    const refused = listRefusedFields(value, traits).filter(name => !isHarmless(name, value[name]))
    const { thinking, max_tokens: received } = value
    const isKept =
      thinking === undefined || fitThinking(thinking, request.maxOutputTokens, received) !== undefined
    return isKept ? refused : [...refused, 'thinking']
  }
  const names = FIELDS.listUnsupported(request)
  names.push(...listEffective(request, listRefused(request, traits)))
  if (isTemperatureChanged(request)) names.push('temperature')
  names.push(...listUnknownParts(request.messages))
  // Also unknown fields are named rather than lost.
  names.push(...listLostExtras(request, traits.hasSampling ? PASSED_ON : UNSAMPLED))
  // Behind more fields than are listed too, since it must not be sent.
  if (!traits.hasSampling && !isHarmless(TOP_K, request.extra?.get(TOP_K))) names.push(TOP_K)
  const thinking = request.providerOptions?.[provider.id]?.thinking ?? request.extra?.get('thinking')
  if (thinking !== undefined && fitThinking(thinking, request.maxOutputTokens, undefined) === undefined) {
    names.push('thinking')
  }
  return [...new Set(names)]
}
