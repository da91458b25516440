import type { Json } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { isHarmless } from '../../shared/harmless-params.ts'
import { listUnsupported } from '../../shared/model-rules.ts'
import { SAME_NAMES } from './encode-body.ts'
import { readField } from './read-field.ts'

/** Extra fields of a chat completion that encodeBody knows. */
const KNOWN_EXTRA: ReadonlySet<string> = new Set([...SAME_NAMES, 'verbosity'])
/** Parameters that it writes. */
const WRITTEN: ReadonlySet<string> = new Set(['temperature', 'top_p'])

/** See ClientFormat.findUnsupportedParams. What was written in this format is named as this format names it. */
export function findUnsupportedParams(
  request: ChatRequest,
  provider: Provider,
  model: string,
  source?: SourceBody,
): readonly string[] {
  const refused = listUnsupported(provider.openai ?? {}, model, request)
  if (source?.format === 'openai-responses') {
    return refused.filter(name => source.fields.has(name) && !isHarmless(name, readField(source, name)))
  }
  const values = new Map<string, Json | undefined>()
  const set = (name: string, value: unknown): void => {
    if (value !== undefined) values.set(name, value as Json)
  }
  set('temperature', request.temperature)
  set('top_p', request.topP)
  set('stop', request.stop)
  set('seed', request.seed)
  set('presence_penalty', request.presencePenalty)
  set('frequency_penalty', request.frequencyPenalty)
  for (const [name, value] of request.extra ?? []) if (!KNOWN_EXTRA.has(name)) values.set(name, value)
  const found: string[] = []
  for (const [name, value] of values) {
    const isHonoured = WRITTEN.has(name) && !refused.includes(name)
    if (!isHonoured && !isHarmless(name, value)) found.push(name)
  }
  return found
}
