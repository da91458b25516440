import { findEmbeddingFormat } from '@rideau/llm/embeddings/find-embedding-format'
import { findImageFormat } from '@rideau/llm/images/find-image-format'
import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { expect, test } from 'vitest'
import { canceledFault, type RequestContext } from '../request/request-context.ts'
import type { Transport, UpstreamHandler } from '../upstream/transport.ts'
import { attemptEmbeddings } from './attempt-embeddings.ts'
import { attemptImages } from './attempt-images.ts'

/** An attempt of several calls that ends while the body of one of them is still written in slices. */

const LONG = 'x'.repeat(2_000_000)
const nothing = (): void => {}

/** A transport that tells of each call. `calls`: their handlers. */
function openTransport(onCall: (handler: UpstreamHandler, index: number) => void) {
  const calls: UpstreamHandler[] = []
  const transport: Transport = {
    call: (_request, handler) => {
      const index = calls.push(handler) - 1
      queueMicrotask(() => onCall(handler, index))
      const call = { sentAt: 1, hasBody: true, isWaiting: false, abort: nothing }
      return { ...call, finish: nothing, pause: nothing, resume: nothing }
    },
    close: async () => {},
  }
  return { transport, calls }
}

function answer(handler: UpstreamHandler, status: number, body: object): void {
  handler.onStart(status, () => ({ 'content-type': 'application/json' }))
  handler.onData(Buffer.from(JSON.stringify(body)))
  handler.onEnd()
}

/** A context, and what stops its request. */
function openContext(): { ctx: RequestContext; stop: () => void } {
  let onStop: Parameters<RequestContext['watch']>[1] = nothing
  const ctx = {
    ...{ environment: undefined, caller: undefined, endUser: undefined },
    watch: (_onTick: unknown, stop: typeof onStop) => {
      onStop = stop
    },
    unwatch: nothing,
  } as unknown as RequestContext
  return { ctx, stop: () => onStop(canceledFault()) }
}

function toTarget(id: string) {
  const provider = findProvider(id) as Provider
  return { provider, model: 'm', baseUrl: provider.baseUrl ?? '', apiKey: 'k' }
}

const common = {
  ...{ sender: 'key' as const, timeoutMs: 60_000, now: () => 0 },
  decodeError: (status: number) => ({ kind: 'rate_limited' as const, status, detail: 'slow down' }),
}

test('embeddings fail with the error of the call that failed, not as canceled', async () => {
  const { transport, calls } = openTransport(handler => answer(handler, 429, { message: 'slow down' }))
  const known = toTarget('openai')
  const provider = { ...known.provider, embeddings: { format: 'openai-embeddings' as const, maxInputs: 1 } }
  const format = findEmbeddingFormat(provider)
  if (format === undefined) throw new Error('openai has embeddings')
  const { ctx } = openContext()
  const result = await attemptEmbeddings({
    ...{ ...common, ctx, transport, format, target: { ...known, provider } },
    request: { model: 'm', input: ['short', LONG, LONG], encoding: 'float' },
  })
  expect(result).toMatchObject({ ok: false, error: { kind: 'rate_limited', status: 429 } })
  expect(calls).toHaveLength(1)
})

test('images that were made are returned, and those on their way counted, if the caller leaves', async () => {
  const { ctx, stop } = openContext()
  const { transport, calls } = openTransport((handler, index) => {
    if (index > 0) return
    const inlineData = { mimeType: 'image/png', data: 'AAAA' }
    const candidates = [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }]
    answer(handler, 200, { candidates, usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290 } })
  })
  const target = { ...toTarget('gemini'), model: 'gemini-2.5-flash-image' }
  const format = findImageFormat(target.provider)
  if (format === undefined) throw new Error('gemini has images')
  const image = { kind: 'data' as const, bytes: Buffer.alloc(3_000_000), mediaType: 'image/png' }
  const attempt = attemptImages({
    ...{ ...common, ctx, transport, format, target, dropped: [] },
    request: { model: 'm', prompt: 'p', n: 10, images: [image], rest: {} },
  })
  // Five calls are made at once. The answer of the first one starts a sixth, whose body takes some ticks.
  await expect.poll(() => calls.length, { timeout: 20_000, interval: 1 }).toBeGreaterThanOrEqual(5)
  stop()
  const { result, abandoned } = await attempt
  expect(result).toMatchObject({ ok: true, value: { images: [expect.anything()] } })
  expect(abandoned).toBeGreaterThanOrEqual(4)
})
