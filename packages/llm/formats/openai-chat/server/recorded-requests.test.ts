import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { SentBody } from '../../../json/unwritten-json.ts'
import { custom } from '../../../providers/custom.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/openai-chat.ts'
import {
  hasRecordings,
  listCases,
  listRecordedRequests,
  type RecordedRequest,
  toChatRequest,
  toSourceBody,
} from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { openAiChat } from '../client/client.ts'
import { FIELDS } from '../wire/fields.ts'

/** All recorded providers of chat completions, those without a file in providers/ as custom servers. */
const FOLDERS = [
  'openai',
  'azure',
  'groq',
  'mistral',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'ollama',
  'cerebras',
  'zai',
  'perplexity',
  'huggingface',
  'vercel-gateway',
  'selfhosted',
]

function toTarget({ provider, model, body }: RecordedRequest): Target {
  const known = findProvider(provider)
  return {
    provider: known?.format === 'openai-chat' ? known : custom,
    model: typeof body.model === 'string' ? body.model : model,
    baseUrl: 'https://example.com/v1',
    apiKey: '',
  }
}

/** Some bodies have what the gateway's parser refuses, such as another service tier. */
function toRequest(body: JsonObject): ChatRequest {
  const extra = FIELDS.readExtra(body)
  return { ...toChatRequest(body), ...(extra === undefined ? {} : { extra }) }
}

/** One cap goes out, under the name that the provider documents; most take both. Its value may not change. */
function withOneCap({ max_tokens, max_completion_tokens, ...rest }: JsonObject): JsonObject {
  const cap = max_completion_tokens ?? max_tokens
  return cap === undefined || cap === null ? rest : { ...rest, max_tokens: cap }
}

const differences = (sent: SentBody, recorded: RecordedRequest) =>
  findDifferences(withOneCap(JSON.parse(sent.toString())), withOneCap(recorded.body))

if (!hasRecordings) console.log('skipped: the recordings of ../shared/wire are not there (570 requests)')

describe.skipIf(!hasRecordings)('a recorded request, received and sent on,', () => {
  const taken = FOLDERS.flatMap(folder => listRecordedRequests(folder, 'chat-completions')).filter(
    ({ status, body }) => status === 200 && Array.isArray(body.messages),
  )
  const justified = openJustifications(JUSTIFIED)

  test('none of the recordings is missing', () => {
    expect(taken.length).toBeGreaterThan(550)
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))('%s', (name, recorded) => {
    const target = toTarget(recorded)
    const source = toSourceBody('openai-chat', recorded.body)
    const request = toRequest(recorded.body)
    // What the provider was sent and took, it can honour.
    expect(openAiChat.listUnsupportedParams(request, target.provider, target.model)).toEqual([])
    const { body } = openAiChat.encodeRequest(request, target, source)
    expect(justified.unexplained(name, differences(body, recorded))).toEqual([])
  })

  test.each(listCases('openai', 'chat-completions').map(one => [one.name, one] as const))(
    'without the received bytes: %s',
    (name, { request, recorded }) => {
      if (recorded.status !== 200) return
      const { body } = openAiChat.encodeRequest(request, toTarget(recorded), undefined)
      expect(justified.unexplained(`canonical ${name}`, differences(body, recorded))).toEqual([])
    },
  )

  test('every justification explains a difference', () => {
    expect(justified.unused()).toEqual([])
  })
})
