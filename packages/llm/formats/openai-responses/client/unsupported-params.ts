import type { ListUnsupportedParams } from '../../shared/client-format.ts'
import { listUnsupported } from '../../shared/reading/model-rules.ts'
import { listSet } from '../../shared/requests/field-table.ts'
import { isHarmless } from '../../shared/requests/harmless-params.ts'
import { listLostExtras } from '../../shared/requests/lost-params.ts'
import { FIELDS } from '../wire/fields.ts'

/** Parameters of chat completions that providers of this format do not know. */
const SAMPLING = ['seed', 'presence_penalty', 'frequency_penalty']

/** See ClientFormat.listUnsupportedParams. */
export const listUnsupportedParams: ListUnsupportedParams = (request, provider, model, source) => {
  const refused = listSet(request, listUnsupported(provider.openai ?? {}, model, request))
  // The rest of a body of this format is the provider's to judge.
  if (source?.format === 'openai-responses') {
    const unknown = SAMPLING.filter(name => !isHarmless(name, request.extra?.get(name)))
    return unknown.length === 0 ? refused : [...refused, ...unknown]
  }
  const lost = [...FIELDS.listUnsupported(request), ...listLostExtras(request, FIELDS.extras)]
  return [...refused, ...lost.filter(name => !refused.includes(name))]
}
