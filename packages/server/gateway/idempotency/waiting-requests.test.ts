import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { gateAnswers } from '../../testing/fakes/gated-answers.ts'
import {
  completion,
  json,
  type ScriptedUpstream,
  streamedCompletion,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import { callWithKey, type IdempotentCallOptions } from '../../testing/harness/idempotent-calls.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT, USED } from '../../testing/harness/limited-app.ts'

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
})
afterAll(async () => {
  await limited.close()
})
beforeEach(async () => {
  await limited.reset()
})

const hello = completion('hello', { usage: USED })
const STREAM = { ...PRICED_CHAT, stream: true }

const call = (idempotencyKey: string, options?: IdempotentCallOptions) =>
  callWithKey(app, idempotencyKey, options)

const gate = (...answers: UpstreamAnswer[]) => gateAnswers(upstream, answers)

const untilOpen = async (count: number): Promise<void> => {
  await expect.poll(() => limited.deps.runningRequests.size, { timeout: 20_000 }).toBe(count)
}
const count = (outcomes: readonly string[], outcome: string): number =>
  outcomes.filter(each => each === outcome).length

describe('requests with one key that arrive while the first is running', () => {
  test.each([
    ['wait for it', PRICED_CHAT, hello],
    ['wait for the end of its stream', STREAM, streamedCompletion('one', ' two')],
  ])('%s: one provider call', async (_name, body, answer) => {
    const provider = gate(answer)
    const key = randomUUID()
    const calls = Array.from({ length: 20 }, () => call(key, { body }))
    await provider.arrived()
    await untilOpen(20)
    provider.open()
    const outcomes = await Promise.all(calls)
    expect([count(outcomes, '200 made'), count(outcomes, '200 replayed')]).toEqual([1, 19])
    expect(provider.calls()).toBe(1)
  })

  test('run one after the other until one succeeds', async () => {
    const refused = json(400, { error: { message: 'no' } })
    const provider = gate(refused, refused, hello)
    const key = randomUUID()
    const calls = Array.from({ length: 6 }, () => call(key))
    for (let round = 1; round <= 3; round++) {
      await provider.arrived()
      if (round === 1) await untilOpen(6)
      expect(provider.calls()).toBe(round)
      provider.open()
    }
    const outcomes = await Promise.all(calls)
    expect(outcomes.sort()).toEqual([
      ...Array(1).fill('200 made'),
      ...Array(3).fill('200 replayed'),
      ...Array(2).fill('400 provider_rejected'),
    ])
    expect(provider.calls()).toBe(3)
  })

  test('make no call and get no answer if their key was revoked meanwhile, and leave it to the next', async () => {
    const refused = json(400, { error: { message: 'no' } })
    const provider = gate(refused, hello)
    const idempotencyKey = randomUUID()
    const revoked = [await app.createKey({}), await app.createKey({})] as const
    const first = call(idempotencyKey)
    await provider.arrived()
    const second = call(idempotencyKey, { key: revoked[0].key })
    await untilOpen(2)
    const third = call(idempotencyKey)
    await untilOpen(3)
    const fourth = call(idempotencyKey, { key: revoked[1].key })
    await untilOpen(4)
    // A wait of less than 250 ms is none.
    await new Promise(resolve => setTimeout(resolve, 300))
    for (const { id } of revoked) await app.manage('POST', `/v1/keys/${id}/revoke`)
    provider.open()
    expect(await Promise.all([first, second])).toEqual(['400 provider_rejected', '401 key_revoked'])
    await provider.arrived()
    expect(provider.calls()).toBe(2)
    provider.open()
    expect(await Promise.all([third, fourth])).toEqual(['200 made', '401 key_revoked'])
  })

  test('go on if the first stream is left by its caller, or a waiting one leaves or is canceled', async () => {
    const provider = gate(streamedCompletion('one'), streamedCompletion('two'))
    const key = randomUUID()
    const leaving = [new AbortController(), new AbortController()] as const
    const leave = (controller: AbortController) =>
      fetch(`${app.gatewayUrl}/v1/chat`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${app.secretKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(STREAM),
        signal: controller.signal,
      }).then(
        () => 'answered',
        () => 'left',
      )
    const first = leave(leaving[0])
    await provider.arrived()
    const waiter = leave(leaving[1])
    await untilOpen(2)
    const id = randomUUID()
    const canceled = call(key, { body: STREAM, headers: { 'x-request-id': id } })
    const rest = [call(key, { body: STREAM }), call(key, { body: STREAM })]
    await untilOpen(5)
    leaving[1].abort()
    expect(await waiter).toBe('left')
    await untilOpen(4)
    expect((await app.call(`/v1/requests/${id}/cancel`, '')).status).toBeLessThan(300)
    expect(await canceled).toContain('request_canceled')
    expect(provider.calls()).toBe(1)
    leaving[0].abort()
    expect(await first).toBe('left')
    await expect.poll(provider.calls, { timeout: 20_000 }).toBe(2)
    provider.open()
    provider.open()
    expect((await Promise.all(rest)).sort()).toEqual(['200 made', '200 replayed'])
  })

  test('get the answer of a stream that goes on without its caller if on_client_gone is drain', async () => {
    const environment = `/v1/environments/${app.developmentId}`
    await app.manage('PATCH', environment, { on_client_gone: 'drain' })
    try {
      const provider = gate(streamedCompletion('one', ' two'))
      const key = randomUUID()
      const controller = new AbortController()
      const first = fetch(`${app.gatewayUrl}/v1/chat`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${app.secretKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(STREAM),
        signal: controller.signal,
      }).catch(() => 'left')
      await provider.arrived()
      controller.abort()
      expect(await first).toBe('left')
      provider.open()
      expect(await call(key, { body: STREAM })).toBe('200 replayed')
      expect(provider.calls()).toBe(1)
    } finally {
      await app.manage('PATCH', environment, { on_client_gone: 'cancel' })
    }
  })
})
