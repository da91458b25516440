import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { listSet } from '../../shared/field-table.ts'
import { findLostExtras } from '../../shared/lost-params.ts'
import { listUnsupported } from '../../shared/model-rules.ts'
import { FIELDS } from '../wire/fields.ts'

/** See ClientFormat.findUnsupportedParams. */
export function findUnsupportedParams(
  request: ChatRequest,
  provider: Provider,
  model: string,
  source?: SourceBody,
): readonly string[] {
  const refused = listSet(request, listUnsupported(provider.openai ?? {}, model, request))
  // The rest of a body of this format is the provider's to judge.
  if (source?.format === 'openai-responses') return refused
  const lost = [...FIELDS.listUnsupported(request), ...findLostExtras(request, FIELDS.extras)]
  return [...refused, ...lost.filter(name => !refused.includes(name))]
}
