import type { Json } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { isHarmless } from '../../shared/harmless-params.ts'
import { listUnsupported } from '../../shared/model-rules.ts'
import { SAME_NAMES } from './encode-body.ts'
import { readField } from './read-field.ts'

/** Fields of a chat completion that encodeBody knows, by their canonical meaning or their own name. */
const TRANSLATED: ReadonlySet<string> = new Set([
  ...SAME_NAMES,
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'temperature',
  'top_p',
  'reasoning_effort',
  'verbosity',
  'user',
])

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
  if (source?.format === 'openai-chat') {
    for (const name of source.fields.keys()) {
      if (!TRANSLATED.has(name)) values.set(name, readField(source, name))
    }
  }
  const found: string[] = []
  for (const [name, value] of values) {
    const isHonoured = TRANSLATED.has(name) && !refused.includes(name)
    if (!isHonoured && !isHarmless(name, value)) found.push(name)
  }
  return found
}
