import { openAiChat } from '@rideau/llm/formats/openai-chat/client/client'
import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { expect, test } from 'vitest'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport } from '../upstream/transport.ts'
import { attemptPlain } from './attempt-plain.ts'

const nothing = (): void => {}
const target = { ...{ provider: findProvider('openai') as Provider, model: 'm' }, baseUrl: '', apiKey: 'k' }

/** Makes an attempt that is answered with a body. */
function attempt(body: object) {
  const transport: Transport = {
    call: (_request, handler) => {
      queueMicrotask(() => {
        handler.onStart(200, () => ({ 'content-type': 'application/json' }))
        handler.onData(Buffer.from(JSON.stringify(body)))
        handler.onEnd()
      })
      const call = { sentAt: 1, hasBody: true, isWaiting: false, abort: nothing }
      return { ...call, finish: nothing, pause: nothing, resume: nothing }
    },
    close: async () => {},
  }
  const ctx = {
    ...{ environment: undefined, caller: undefined, endUser: undefined, watch: nothing, unwatch: nothing },
  } as unknown as RequestContext
  const request = { origin: 'https://a.example', path: '/', headers: {}, body: Buffer.alloc(0) }
  return attemptPlain({ ctx, transport, format: openAiChat, target, request, timeoutMs: 60_000 })
}

test('an answer with more parts than models write cannot be read', async () => {
  const answer = (parts: number): object => ({
    choices: [{ message: { content: Array.from({ length: parts }, () => ({ type: 'text', text: 'a' })) } }],
  })
  expect(await attempt(answer(1_000))).toMatchObject({ ok: true })
  expect(await attempt(answer(33_000))).toMatchObject({
    ok: false,
    error: { kind: 'unavailable', detail: expect.stringContaining('more than 32768 objects and lists') },
  })
})
