import type { FindUnsupportedParams } from '../../shared/client-format.ts'
import { listSet } from '../../shared/field-table.ts'
import { findLostExtras } from '../../shared/lost-params.ts'
import { listUnsupported } from '../../shared/model-rules.ts'
import { FIELDS } from '../wire/fields.ts'

/** See ClientFormat.findUnsupportedParams. */
export const findUnsupportedParams: FindUnsupportedParams = (request, provider, model, source) => {
  const refused = listSet(request, listUnsupported(provider.openai ?? {}, model, request))
  // The rest of a body of this format is the provider's to judge.
  if (source?.format === 'openai-responses') return refused
  const lost = [...FIELDS.listUnsupported(request), ...findLostExtras(request, FIELDS.extras)]
  return [...refused, ...lost.filter(name => !refused.includes(name))]
}
