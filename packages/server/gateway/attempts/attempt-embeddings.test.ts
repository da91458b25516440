import { findEmbeddingFormat } from '@rideau/llm/embeddings/find-embedding-format'
import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { expect, test } from 'vitest'
import type { Permit } from '../request/permit.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport } from '../upstream/transport.ts'
import { attemptEmbeddings } from './attempt-embeddings.ts'

/** A transport that answers each call with the next body. */
function scripted(bodies: readonly object[]): Transport {
  const left = [...bodies]
  return {
    call: (_request, handler) => {
      queueMicrotask(() => {
        handler.onStart(200, () => ({ 'content-type': 'application/json' }))
        handler.onData(Buffer.from(JSON.stringify(left.shift())))
        handler.onEnd()
      })
      const nothing = (): void => {}
      return {
        sentAt: 0,
        hasBody: true,
        isWaiting: false,
        abort: nothing,
        finish: nothing,
        pause: nothing,
        resume: nothing,
      }
    },
    close: async () => {},
  }
}

const body = (usage: object) => ({ data: [{ index: 0, embedding: [0.5] }], usage })

/** An attempt with one input per call, so that there are as many calls as bodies. */
async function attempt(
  id: string,
  baseUrl: string | undefined,
  bodies: readonly object[],
  permit?: Pick<Permit, 'receive' | 'dropReceived'>,
): ReturnType<typeof attemptEmbeddings> {
  const known = findProvider(id) as Provider
  const provider = { ...known, embeddings: { format: 'openai-embeddings' as const, maxInputs: 1 } }
  const format = findEmbeddingFormat(provider)
  if (format === undefined) throw new Error(id)
  return await attemptEmbeddings({
    sender: 'key',
    ctx: { watch: () => {}, unwatch: () => {}, permit } as unknown as RequestContext,
    transport: scripted(bodies),
    format,
    decodeError: () => ({ kind: 'unavailable', detail: '' }),
    target: { provider, model: 'm', baseUrl: baseUrl ?? known.baseUrl ?? '', apiKey: 'k' },
    request: { model: 'x', input: bodies.map(() => 'a'), encoding: 'float' },
    timeoutMs: 1000,
    now: () => 0,
  })
}

async function costOf(
  id: string,
  baseUrl: string | undefined,
  ...usages: object[]
): Promise<number | undefined> {
  const result = await attempt(id, baseUrl, usages.map(body))
  if (!result.ok) throw new Error(result.error.detail)
  expect(result.value.vectors).toHaveLength(usages.length)
  return result.value.costNanoUsd
}

test('adds up the costs that several calls report', async () => {
  const one = { prompt_tokens: 7, cost: 0.0000001 }
  expect(await costOf('openrouter', undefined, one, { prompt_tokens: 7, cost: 0.0000002 })).toBe(300)
  expect(await costOf('perplexity', undefined, { prompt_tokens: 3, cost: { total_cost: 1.2e-8 } })).toBe(12)
})

test("uses the gateway's own prices if one of several calls reports no cost", async () => {
  const usage = { prompt_tokens: 7, cost: 0.0000001 }
  expect(await costOf('openrouter', undefined, usage, { prompt_tokens: 7 })).toBeUndefined()
})

test('ignores a reported cost of another address, of another provider, or of an incredible amount', async () => {
  const free = { prompt_tokens: 7, cost: 0 }
  expect(await costOf('openrouter', 'https://proxy.example/v1', free)).toBeUndefined()
  expect(await costOf('openai', undefined, free)).toBeUndefined()
  expect(await costOf('openrouter', undefined, { prompt_tokens: 7, cost: -1 })).toBeUndefined()
  expect(await costOf('openrouter', undefined, { prompt_tokens: 7, cost: 1e9 })).toBeUndefined()
})

test('counts the vectors of all calls until the request ends, and nothing of an attempt that failed', async () => {
  let counted = 0
  const permit = {
    receive: (bytes: number): boolean => {
      counted += bytes
      return true
    },
    dropReceived: (bytes: number): void => {
      counted -= bytes
    },
  }
  const toBody = (embedding: readonly number[]): object => ({ data: [{ index: 0, embedding }] })
  const [long, short] = [toBody([0.123456789, 0.2345678912]), toBody(Array(500).fill(0))]
  expect(await attempt('openai', undefined, [long, short], permit)).toMatchObject({ ok: true })
  expect(counted).toBeGreaterThan(16)
  counted = 0
  expect(await attempt('openai', undefined, [long, short, {}], permit)).toMatchObject({ ok: false })
  expect(counted).toBe(0)
})
