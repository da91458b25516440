import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject, toObjects } from '../json/json-value.ts'
import { runAtOnce } from '../json/run-at-once.ts'
import { custom } from '../providers/custom.ts'
import { findProvider } from '../providers/index.ts'
import type { Target } from '../upstream/target.ts'
import type { Vector } from './embedding-format.ts'
import { findEmbeddingFormat } from './find-embedding-format.ts'
import { encodeVector } from './vector-encoding.ts'

/** Real traffic, kept beside the repository; a clone elsewhere has only the hand-written cases. */
const WIRE = new URL('../../../../shared/wire/', import.meta.url)
const FOLDERS = [
  'openai',
  'azure',
  'mistral',
  'openrouter',
  'perplexity',
  'selfhosted',
  'voyage',
  'gemini',
  'vertex',
  'cohere',
  'bedrock',
  'ollama',
]

interface Recording {
  readonly name: string
  readonly target: Target
  readonly request: JsonObject | undefined
  readonly body: JsonObject
  readonly headers: Record<string, string>
}

/** The successful recordings of providers whose embeddings the gateway calls. */
function readAll(): Recording[] {
  return FOLDERS.flatMap(folder =>
    readdirSync(new URL(folder, WIRE))
      .filter(file => /^(embeddings|invoke-model)__/.test(file))
      .flatMap(file => {
        const recording = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
        const provider = findProvider(folder) ?? custom
        const body = parse(recording.response.body)
        const isEmbedding = /embed/i.test(`${file}${recording.model}${recording.request?.url}`)
        if (recording.response.status !== 200 || body === undefined || !isEmbedding) return []
        if (findEmbeddingFormat(provider) === undefined) return []
        const target: Target = {
          provider,
          model: recording.model ?? 'm',
          baseUrl: 'https://p.example',
          apiKey: 'k',
        }
        const request = parse(recording.request?.body)
        return { name: `${folder}/${file}`, target, request, body, headers: recording.response.headers ?? {} }
      }),
  )
}

function parse(text: unknown): JsonObject | undefined {
  try {
    return toObject(JSON.parse(String(text)) as Json)
  } catch {
    return undefined
  }
}

const recordings = existsSync(WIRE) ? readAll() : []
if (recordings.length === 0) console.log('0 recorded embeddings: the folder of recordings is not here')

function encode(vector: Vector, encoding: 'float' | 'base64'): Vector {
  return JSON.parse(Buffer.concat(runAtOnce(encodeVector(vector, encoding))).toString('utf8')) as Vector
}

test.skipIf(recordings.length === 0)('there are recordings of ten providers', () => {
  expect(new Set(recordings.map(({ target }) => target.provider.id)).size).toBeGreaterThanOrEqual(9)
})

test.skipIf(recordings.length === 0).each(recordings)(
  '$name: a vector for each input, of one length, and the provider’s own count of tokens',
  ({ target, request, body, headers }) => {
    const reply = findEmbeddingFormat(target.provider)?.decodeReply(body, headers, target)
    expect(reply).toBeDefined()
    const vectors = (reply?.vectors ?? []).map(vector => encode(vector, 'float') as number[])
    const inputs = request === undefined ? undefined : countInputs(request)
    if (inputs !== undefined) expect(vectors).toHaveLength(inputs)
    expect(new Set(vectors.map(vector => vector.length)).size).toBe(1)
    expect(vectors.flat().every(Number.isFinite)).toBe(true)
    // Within 32 bits a vector is the same in either encoding.
    for (const vector of vectors) {
      const back = encode(encode(vector, 'base64'), 'float')
      expect(back).toEqual(vector.map(Math.fround))
    }
    const told = findTokens(body, headers)
    expect(reply?.inputTokens).toBe(told)
  },
)

test.skipIf(recordings.length === 0)(
  'what a provider says that they cost is the cost, at its own address',
  () => {
    const told = recordings.flatMap(({ target, body, headers }) => {
      const at = (baseUrl: string): number | undefined =>
        findEmbeddingFormat(target.provider)?.decodeReply(body, headers, { ...target, baseUrl })?.costNanoUsd
      expect(at('https://elsewhere.example')).toBeUndefined()
      const cost = toObject(body.usage)?.cost
      const usd = toObject(cost)?.total_cost ?? cost
      const nanos = at(target.provider.baseUrl ?? '')
      expect(nanos).toBe(usd === undefined ? undefined : Math.round(Number(usd) * 1e9))
      return nanos ?? []
    })
    expect(told.length).toBeGreaterThanOrEqual(5)
  },
)

function countInputs(request: JsonObject): number | undefined {
  const list = request.input ?? request.texts ?? request.requests ?? request.instances
  return Array.isArray(list)
    ? list.length
    : list === undefined && request.inputs !== undefined
      ? undefined
      : 1
}

/** Where each provider says what it counted, read apart from the code under test. */
function findTokens(body: JsonObject, headers: Record<string, string>): number | undefined {
  const header = headers['x-amzn-bedrock-input-token-count']
  if (header !== undefined) return Number(header)
  const usage = toObject(body.usage)
  const billed = toObject(toObject(body.meta)?.billed_units)
  const statistics = toObjects(body.predictions).map(each => toObject(toObject(each.embeddings)?.statistics))
  const sums = statistics.map(each => each?.token_count as number)
  const told =
    usage?.prompt_tokens ??
    usage?.total_tokens ??
    billed?.input_tokens ??
    toObject(body.usageMetadata)?.promptTokenCount ??
    body.inputTextTokenCount ??
    body.prompt_eval_count
  if (sums.length > 0) return sums.reduce((sum, each) => sum + each, 0)
  return told as number | undefined
}
