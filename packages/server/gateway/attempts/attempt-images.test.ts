import { findImageFormat } from '@rideau/llm/images/find-image-format'
import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import { expect, test } from 'vitest'
import type { Permit } from '../request/permit.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport } from '../upstream/transport.ts'
import { attemptImages } from './attempt-images.ts'

/** More than is written at once. */
const LONG_BYTES = 1_000_000

/** A transport that answers each call with an image, and notes its request and how many run at once. */
function answering() {
  const requests: UpstreamRequest[] = []
  let running = 0
  const seen = { requests, most: 0 }
  const transport: Transport = {
    call: (request, handler) => {
      requests.push(request)
      seen.most = Math.max(seen.most, ++running)
      setImmediate(() => {
        running--
        handler.onStart(200, () => ({ 'content-type': 'application/json' }))
        handler.onData(Buffer.from('{"data":[{"b64_json":"AAAA"}]}'))
        handler.onEnd()
      })
      const nothing = (): void => {}
      const flow = { abort: nothing, finish: nothing, pause: nothing, resume: nothing }
      return { sentAt: 0, hasBody: true, isWaiting: false, ...flow }
    },
    close: async () => {},
  }
  return { seen, transport }
}

/** The memory of bodies. `used` is what is acquired beyond the request itself. */
function memoryFor(bytes: number) {
  const memory = {
    used: 0,
    most: 0,
    tryAcquire: (more: number): boolean => {
      if (memory.used + more > bytes) return false
      memory.used += more
      memory.most = Math.max(memory.most, memory.used)
      return true
    },
    release: (less: number): void => {
      memory.used -= less
    },
    receive: () => true,
    dropReceived: () => {},
  }
  return memory
}

/** Edits an image `n` times by a provider that makes one in a call. */
async function edit(n: number, transport: Transport, memory: ReturnType<typeof memoryFor>) {
  const provider = findProvider('openrouter') as Provider
  const format = findImageFormat(provider)
  if (format === undefined) throw new Error('OpenRouter has images')
  const permit: Pick<Permit, 'tryAcquire' | 'release' | 'receive' | 'dropReceived'> = memory
  const bytes = Buffer.alloc(LONG_BYTES, 1)
  const { result } = await attemptImages({
    sender: 'key',
    ctx: { watch: () => {}, unwatch: () => {}, permit } as unknown as RequestContext,
    transport,
    format,
    decodeError: () => ({ kind: 'unavailable', detail: '' }),
    target: { provider, model: 'm', baseUrl: provider.baseUrl ?? '', apiKey: 'k' },
    request: { model: 'm', prompt: 'a cat', n, images: [{ kind: 'data', bytes, mediaType: 'image/png' }] },
    dropped: [],
    timeoutMs: 1000,
    now: () => 0,
  })
  return result.ok ? result.value.images.length : result.error
}

test('the calls of one request send one body, which is written once', async () => {
  const { seen, transport } = answering()
  expect(await edit(5, transport, memoryFor(100 * LONG_BYTES))).toBe(5)
  const [first, ...others] = seen.requests
  expect(first?.body.length).toBeGreaterThan(LONG_BYTES)
  expect(others.map(({ body }) => body === first?.body)).toEqual([true, true, true, true])
  // Each has headers of its own: a signature is put on them.
  expect(new Set(seen.requests.map(({ headers }) => headers)).size).toBe(5)
  expect(seen.most).toBe(5)
})

test('as many calls run at once as there is memory for their bodies, which is given back', async () => {
  for (const [room, most] of [
    [0, 1],
    [3 * LONG_BYTES, 3],
  ] as const) {
    const { seen, transport } = answering()
    const memory = memoryFor(room)
    expect(await edit(6, transport, memory)).toBe(6)
    expect(seen.most).toBe(most)
    expect(memory.used).toBe(0)
  }
})
