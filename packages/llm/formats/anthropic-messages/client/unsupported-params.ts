import type { ChatRequest } from '../../../request/chat-request.ts'
import { isTemperatureChanged } from '../../shared/adapted/temperature-scale.ts'
import type { ListUnsupportedParams } from '../../shared/client-format.ts'
import { fitThinking } from '../../shared/reasoning/fit-thinking.ts'
import { listEffective } from '../../shared/requests/field-table.ts'
import { isHarmless } from '../../shared/requests/harmless-params.ts'
import { isLostExtra } from '../../shared/requests/lost-params.ts'
import { FIELDS } from '../wire/fields.ts'
import { listUnknownParts } from './encode-parts.ts'
import { listRefused, listRefusedFields } from './model-rules.ts'
import { type ModelTraits, toModelTraits } from './model-traits.ts'

/** Fields of this format that a caller of OpenAI's may send beside its own: they go out as they are. */
export const PASSED_ON: readonly string[] = ['top_k', 'cache_control', 'thinking']

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
  for (const { content } of request.messages) names.push(...listUnknownParts(content))
  if (request.extra !== undefined) names.push(...listLostExtra(request.extra, traits))
  const thinking = request.providerOptions?.[provider.id]?.thinking ?? request.extra?.get('thinking')
  if (thinking !== undefined && fitThinking(thinking, request.maxOutputTokens, undefined) === undefined) {
    names.push('thinking')
  }
  return [...new Set(names)]
}

/** The extra fields of an OpenAI body that ask for something: also unknown ones are named rather than lost. */
function listLostExtra(extra: NonNullable<ChatRequest['extra']>, traits: ModelTraits): string[] {
  const names: string[] = []
  for (const [name, value] of extra) {
    if (PASSED_ON.includes(name) && (name !== 'top_k' || traits.hasSampling)) continue
    if (isLostExtra(name, value)) names.push(name)
  }
  return names
}
