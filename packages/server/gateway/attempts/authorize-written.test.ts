import { openAiChat } from '@rideau/llm/formats/openai-chat/client/client'
import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import type { Message } from '@rideau/llm/request/message'
import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import { FieldRules, SCALAR } from '@rideau/llm/upstream/outgoing-rules'
import type { Target } from '@rideau/llm/upstream/target'
import type { EncodedRequest } from '@rideau/llm/upstream/upstream-request'
import { expect, test } from 'vitest'
import { Fault } from '../../core/fault.ts'
import type { WatchedContext } from './attempt-whole.ts'
import { authorizeWritten, callWritten } from './authorize-written.ts'
import { ONE_ANSWER, toGrant } from './to-grant.ts'

const target: Target = {
  provider: findProvider('openai') as Provider,
  model: 'm',
  baseUrl: 'https://a.example/v1',
  apiKey: 'secret',
}
const authorization = { target, now: () => 0, grant: toGrant('key', target, ONE_ANSWER) }
const STOP = new Fault('request_canceled', 'The request was canceled.')

function toRequest(length: number): EncodedRequest {
  const messages: Message[] = [{ role: 'user', content: 'x'.repeat(length) }]
  return openAiChat.encodeRequest(
    { model: 'm', messages, stream: false, includeUsage: false },
    target,
    undefined,
  )
}

function watch(stopsAt: number): WatchedContext & { watched: number } {
  const context = {
    ...{ environment: undefined, caller: undefined, endUser: undefined, permit: undefined },
    fail: (error: unknown) => {
      throw error
    },
    watched: 0,
    watch: (_onTick: unknown, onStop: (fault: Fault) => void) => {
      context.watched++
      setTimeout(() => onStop(STOP), stopsAt)
    },
    unwatch: () => {
      context.watched--
    },
  }
  return context
}

test('authorizes a short request at once, and a long one with all of its bytes', async () => {
  const short = authorizeWritten(toRequest(10), { ...authorization, ctx: watch(0) })
  expect(short).toMatchObject({ headers: { authorization: 'Bearer secret' } })
  const encoded = toRequest(4_000_000)
  const context = watch(1_000_000)
  const long = await authorizeWritten(encoded, { ...authorization, ctx: context })
  expect(long?.headers.authorization).toBe('Bearer secret')
  expect(JSON.parse(String(long?.body))).toEqual({ ...encoded.content?.value, model: 'm' })
  expect(context.watched).toBe(0)
})

const AWS: Target = {
  ...{
    provider: findProvider('bedrock') as Provider,
    model: 'm',
    baseUrl: 'https://a.example',
    apiKey: 'secret',
  },
  options: { access_key_id: 'AKID', region: 'eu-west-1' },
}

test('signs a long request for AWS as a short one, with a digest that takes turns', async () => {
  const value = { prompt: 'x'.repeat(300_000) }
  const content = { rules: new FieldRules([['prompt', SCALAR]], 'refused'), value }
  const encoded = (body: EncodedRequest['body']): EncodedRequest => ({
    ...{ origin: AWS.baseUrl, path: '/', headers: {}, body, content },
  })
  const bytes = Buffer.from(JSON.stringify(value))
  const atOnce = { ...encoded(bytes), body: bytes, headers: {} as Record<string, string> }
  authorizeRequest(atOnce, AWS, 0, authorization.grant)
  for (const body of [bytes, { pieces: () => [bytes].values() as Generator<Buffer, void> }]) {
    const request = authorizeWritten(encoded(body), { ...authorization, target: AWS, ctx: watch(1_000_000) })
    expect(request).toBeInstanceOf(Promise)
    const signed = await request
    expect(signed?.bodyDigest).toMatch(/^[0-9a-f]{64}$/)
    expect(signed?.headers).toEqual(atOnce.headers)
    expect(signed?.headers.authorization).toContain('Signature=')
  }
})

test('a request that is stopped while it is written gets no credential, and its call is interrupted and never made', async () => {
  const encoded = toRequest(40_000_000)
  expect(await authorizeWritten(encoded, { ...authorization, ctx: watch(0) })).toBeUndefined()
  const result = await callWritten(encoded, { ...authorization, ctx: watch(0) }, () => {
    throw new Error('the call was made')
  })
  expect(result).toEqual({ ok: false, error: { kind: 'interrupted', detail: 'the request was stopped' } })
  expect(encoded.headers.authorization).toBeUndefined()
})
