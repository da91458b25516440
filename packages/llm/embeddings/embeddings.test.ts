import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import type { Target } from '../upstream/target.ts'
import type { EmbeddingRequest, Vector } from './embedding-format.ts'
import { findEmbeddingFormat, maxInputsOf, takesTokens } from './find-embedding-format.ts'
import { encodeVector } from './vector-encoding.ts'

function toTarget(id: string, model: string, options: JsonObject = {}): Target {
  const provider = findProvider(id) as Provider
  return { provider, model, baseUrl: 'https://p.example/v9', apiKey: 'k', options }
}

function encode(id: string, model: string, request: Partial<EmbeddingRequest>, options?: JsonObject) {
  const target = toTarget(id, model, options)
  const format = findEmbeddingFormat(target.provider)
  const sent = format?.encodeRequest({ model, input: ['a', 'b'], encoding: 'float', ...request }, target)
  return { path: sent?.path, body: JSON.parse(sent?.body.toString() ?? 'null') }
}

function decode(id: string, model: string, body: JsonObject, headers: Record<string, string> = {}) {
  const target = toTarget(id, model)
  return findEmbeddingFormat(target.provider)?.decodeReply(body, headers, target)
}

describe('what a provider is sent', () => {
  test.each([
    [
      'openai',
      'm',
      { dimensions: 8, encoding: 'base64', user: 'u', inputType: 'query' },
      '/v9/embeddings',
      { model: 'm', input: ['a', 'b'], dimensions: 8, encoding_format: 'base64', user: 'u' },
    ],
    [
      'openai',
      'm',
      { input: [[1, 2]] },
      '/v9/embeddings',
      { model: 'm', input: [[1, 2]], encoding_format: 'float' },
    ],
    [
      'mistral',
      'm',
      { dimensions: 8, user: 'u' },
      '/v9/embeddings',
      { model: 'm', input: ['a', 'b'], output_dimension: 8 },
    ],
    [
      'voyage',
      'm',
      { dimensions: 8, inputType: 'query' },
      '/v9/embeddings',
      { model: 'm', input: ['a', 'b'], output_dimension: 8, input_type: 'query' },
    ],
    [
      'voyage',
      'm',
      { encoding: 'base64' },
      '/v9/embeddings',
      { model: 'm', input: ['a', 'b'], encoding_format: 'base64' },
    ],
    [
      'nvidia',
      'm',
      {},
      '/v9/embeddings',
      { model: 'm', input: ['a', 'b'], encoding_format: 'float', input_type: 'passage' },
    ],
    [
      'gemini',
      'e-1',
      { dimensions: 8, inputType: 'query' },
      '/v9/models/e-1:batchEmbedContents',
      {
        requests: ['a', 'b'].map(text => ({
          model: 'models/e-1',
          content: { parts: [{ text }] },
          taskType: 'RETRIEVAL_QUERY',
          outputDimensionality: 8,
        })),
      },
    ],
    [
      'vertex',
      'text-embedding-005',
      { dimensions: 8, inputType: 'document' },
      '/v9/publishers/google/models/text-embedding-005:predict',
      {
        instances: ['a', 'b'].map(content => ({ content, task_type: 'RETRIEVAL_DOCUMENT' })),
        parameters: { outputDimensionality: 8 },
      },
    ],
    [
      'vertex',
      'gemini-embedding-2',
      { input: ['a'] },
      '/v9/publishers/google/models/gemini-embedding-2:embedContent',
      { content: { parts: [{ text: 'a' }] } },
    ],
    [
      'bedrock',
      'amazon.titan-embed-text-v2:0',
      { input: ['a'], dimensions: 256 },
      '/v9/model/amazon.titan-embed-text-v2%3A0/invoke',
      { inputText: 'a', dimensions: 256 },
    ],
    [
      'bedrock',
      'us.cohere.embed-v4:0',
      { inputType: 'query' },
      '/v9/model/us.cohere.embed-v4%3A0/invoke',
      { texts: ['a', 'b'], input_type: 'search_query' },
    ],
    [
      'bedrock',
      'amazon.nova-2-multimodal-embeddings-v1:0',
      { input: ['a'], dimensions: 256, inputType: 'query' },
      '/v9/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke',
      {
        taskType: 'SINGLE_EMBEDDING',
        singleEmbeddingParams: {
          embeddingPurpose: 'GENERIC_RETRIEVAL',
          text: { value: 'a', truncationMode: 'NONE' },
          embeddingDimension: 256,
        },
      },
    ],
    ['ollama', 'm', {}, '/api/embed', { model: 'm', input: ['a', 'b'] }],
  ] as [string, string, Partial<EmbeddingRequest>, string, JsonObject][])(
    '%s %s %j',
    (id, model, request, path, body) => {
      const sent = encode(id, model, request)
      expect(sent.body).toEqual(body)
      expect(id === 'ollama' ? sent.path?.endsWith(path) : sent.path === path).toBe(true)
    },
  )

  test('with deployments the model’s own deployment, below the older path where a version is named', () => {
    const options = { deployments: { m: 'mine' } }
    expect(encode('azure', 'm', {}, options)).toMatchObject({ body: { model: 'mine' } })
    expect(encode('azure', 'm', {}, { ...options, api_version: '2024-10-21' }).path).toBe(
      '/v9/deployments/mine/embeddings?api-version=2024-10-21',
    )
  })

  test('other fields of an OpenAI-shaped body go to providers of that format and replace no field of the gateway', () => {
    const rest = { truncate: 'END', model: 'other' }
    expect(encode('openai', 'm', { rest }).body).toMatchObject({ truncate: 'END', model: 'm' })
    expect(encode('ollama', 'm', { rest }).body).toEqual({ model: 'm', input: ['a', 'b'] })
  })
})

describe('what an answer means', () => {
  test('vectors come in the order of the inputs, whatever order they are sent in', () => {
    const data = [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ]
    const reply = decode('openai', 'm', { data, usage: { prompt_tokens: 7, total_tokens: 7 } })
    expect(reply).toEqual({ vectors: [[1], [2]], inputTokens: 7 })
  })

  test.each([
    [
      'voyage',
      { data: [{ embedding: 'AACAPw==', index: 0 }], usage: { total_tokens: 3 } },
      {},
      ['AACAPw=='],
      3,
    ],
    ['gemini', { embeddings: [{ values: [1, 2] }] }, {}, [[1, 2]], undefined],
    [
      'vertex',
      { predictions: [{ embeddings: { values: [1], statistics: { token_count: 4 } } }] },
      {},
      [[1]],
      4,
    ],
    ['bedrock', { embedding: [1], inputTextTokenCount: 5 }, {}, [[1]], 5],
    [
      'bedrock',
      { embeddings: { float: [[1], [2]] } },
      { 'x-amzn-bedrock-input-token-count': '6' },
      [[1], [2]],
      6,
    ],
    ['bedrock', { embeddings: [{ embedding: [3] }] }, {}, [[3]], undefined],
    ['ollama', { embeddings: [[1]], prompt_eval_count: 2 }, {}, [[1]], 2],
    [
      'perplexity',
      { data: [{ embedding: '/wE=', index: 0 }], usage: { prompt_tokens: 1 } },
      {},
      [[-1, 1]],
      1,
    ],
  ] as [string, JsonObject, Record<string, string>, unknown[], number | undefined][])(
    '%s %j',
    (id, body, headers, vectors, inputTokens) => {
      expect(decode(id, 'm', body, headers)).toEqual({ vectors, inputTokens })
    },
  )

  test.each([
    ['openai', {}],
    ['openai', { data: [{ embedding: [1, 'x'] }] }],
    ['openai', { data: [{ index: 3, embedding: [1] }] }],
    ['gemini', { embeddings: [{ values: null }] }],
    ['vertex', { predictions: [{}] }],
    ['bedrock', { embeddings: 3 }],
    ['ollama', { embeddings: [] }],
  ] as [string, JsonObject][])('%s %j is no answer', (id, body) => {
    expect(decode(id, 'm', body)).toBeUndefined()
  })
})

/** The vector as the caller reads it, and in how many pieces of work it was encoded. */
function encodeAs(vector: Vector, encoding: 'float' | 'base64'): { sent: Vector; pieces: number } {
  const steps = encodeVector(vector, encoding)
  let pieces = 0
  let next = steps.next()
  for (; next.done !== true; next = steps.next()) pieces++
  return { sent: JSON.parse(Buffer.concat(next.value).toString('utf8')) as Vector, pieces }
}

test('a vector keeps its numbers through base64 and back, to the precision of 32 bits', () => {
  const vector = [1, -0.5, 3.25, 0]
  expect(encodeAs(vector, 'base64').sent).toBe('AACAPwAAAL8AAFBAAAAAAA==')
  expect(encodeAs('AACAPwAAAL8AAFBAAAAAAA==', 'float').sent).toEqual(vector)
  expect(encodeAs(vector, 'float').sent).toEqual(vector)
  expect(encodeAs('AACAPw==', 'base64').sent).toBe('AACAPw==')
  expect(encodeAs([], 'float').sent).toEqual([])
})

test('a vector of a million numbers is encoded in pieces, from either form to either', () => {
  const vector = Array.from({ length: 1_000_000 }, (_, at) => Math.fround(at / 7))
  const { sent: base64, pieces } = encodeAs(vector, 'base64')
  expect(pieces).toBeGreaterThan(400)
  for (const [from, to, expected] of [
    [vector, 'float', vector],
    [base64, 'float', vector],
    [base64, 'base64', base64],
  ] as const) {
    const encoded = encodeAs(from, to)
    expect(encoded.pieces).toBeGreaterThan(80)
    // A comparison of a million numbers by expect takes seconds.
    expect(JSON.stringify(encoded.sent) === JSON.stringify(expected)).toBe(true)
  }
})

test('a text that is no base64 arrives as the provider sent it', () => {
  const text = `${'a'.repeat(65_535)}\u{1f600}"\n\ud800b`
  expect(encodeAs(text, 'base64').sent).toBe(text)
})

test('limits are the provider’s or the format’s, whichever is less; tokens go only where they are known', () => {
  const limit = (id: string, model: string) => {
    const provider = findProvider(id) as Provider
    const format = findEmbeddingFormat(provider)
    return format === undefined
      ? undefined
      : [maxInputsOf(provider, format, model), takesTokens(provider, format)]
  }
  expect(limit('openai', 'm')).toEqual([2048, true])
  expect(limit('voyage', 'm')).toEqual([1000, false])
  expect(limit('gemini', 'm')).toEqual([100, false])
  expect(limit('vertex', 'text-embedding-005')).toEqual([250, false])
  expect(limit('vertex', 'gemini-embedding-2')).toEqual([1, false])
  expect(limit('bedrock', 'us.cohere.embed-v4:0')).toEqual([96, false])
  expect(limit('bedrock', 'amazon.titan-embed-text-v2:0')).toEqual([1, false])
  expect(limit('anthropic', 'm')).toBeUndefined()
})
