import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  streamedCompletion,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT, USED } from '../../testing/harness/limited-app.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'
import { FirstAnswer } from '../idempotency/first-answer.ts'
import { canceledFault, type RequestContext } from './request-context.ts'

let limited: LimitedApp
let restore: () => void = () => {}

beforeAll(async () => {
  limited = await openLimitedApp()
})
afterAll(async () => {
  await limited.close()
})
beforeEach(async () => {
  await limited.reset()
})
afterEach(() => restore())

/** Steps that call `wait` go on once `open` is called. */
class Gate {
  arrive: () => void = () => {}
  open: () => void = () => {}
  readonly arrived = new Promise<void>(resolve => {
    this.arrive = resolve
  })
  readonly #opened = new Promise<void>(resolve => {
    this.open = resolve
  })

  wait(): Promise<void> {
    this.arrive()
    return this.#opened
  }
}

/** Lets the next record wait at the gate before it is written. */
function delayRecord(gate: Gate): void {
  restore = replaceProperty(
    limited.deps,
    'writeRecord',
    write => record => gate.wait().then(() => write(record)),
  )
}

/** Lets the next answer with an idempotency key wait at the gate before it is stored. */
function delayStore(name: 'keepWhole' | 'keepStream') {
  return (gate: Gate): void => {
    restore = replaceProperty(
      FirstAnswer.prototype,
      name,
      (keep: (...given: never[]) => Promise<void>) =>
        async function (this: FirstAnswer, ...given: never[]) {
          await gate.wait()
          return keep.apply(this, given)
        },
    )
  }
}

const WHOLE = completion('hello', { usage: USED })
const STREAM = { ...PRICED_CHAT, stream: true }

describe('a cancel that arrives once the answer is decided returns false, and the request ends as it would have', () => {
  test.each<[string, object, UpstreamAnswer, (gate: Gate) => void, number, string]>([
    ['while the record of an answer is written', PRICED_CHAT, WHOLE, delayRecord, 200, 'hello'],
    ['while an answer is stored', PRICED_CHAT, WHOLE, delayStore('keepWhole'), 200, 'hello'],
    [
      'while the record of a stream is written',
      STREAM,
      streamedCompletion('one', ' two'),
      delayRecord,
      200,
      '[DONE]',
    ],
    [
      'while a stream is stored',
      STREAM,
      streamedCompletion('one', ' two'),
      delayStore('keepStream'),
      200,
      '[DONE]',
    ],
    [
      'while the record of a failure is written',
      PRICED_CHAT,
      json(400, { error: { message: 'no' } }),
      delayRecord,
      400,
      'provider_rejected',
    ],
  ])('%s', async (_when, body, answer, delay, status, part) => {
    const { app, upstream } = limited
    const gate = new Gate()
    upstream.script(answer)
    delay(gate)
    const id = randomUUID()
    const headers = { 'x-request-id': id, 'idempotency-key': randomUUID() }
    const running = app.call('/v1/chat', body, { headers })
    await gate.arrived
    const cancel = await app.call(`/v1/requests/${id}/cancel`, '')
    expect(await cancel.json()).toEqual({ request_id: id, canceled: false })
    gate.open()
    const response = await running
    const text = await response.text()
    expect([response.status, text]).toEqual([status, expect.stringContaining(part)])
    expect(text).not.toContain('request_canceled')
    expect((await app.findLog(id)).status).toBe(status)
  })
})

test('a second cancel while the record of the first is written returns true', async () => {
  const { app, upstream } = limited
  const provider = new Gate()
  upstream.script(provider.arrive)
  const gate = new Gate()
  delayRecord(gate)
  const id = randomUUID()
  const running = app.call('/v1/chat', PRICED_CHAT, { headers: { 'x-request-id': id } })
  await provider.arrived
  const cancel = async () => (await app.call(`/v1/requests/${id}/cancel`, '')).json()
  expect(await cancel()).toMatchObject({ canceled: true })
  await gate.arrived
  expect(await cancel()).toMatchObject({ canceled: true })
  gate.open()
  expect(await (await running).json()).toMatchObject({ error: { code: 'request_canceled' } })
})

test('a cancel while a long request waits for its turn to be encoded ends it before its provider is called', async () => {
  const { app, deps, upstream } = limited
  // The last step before that turn.
  restore = replaceProperty(
    deps.accessTokens,
    'find',
    find =>
      (id, target, owner): ReturnType<typeof find> => {
        queueMicrotask(() => (owner as RequestContext).stop(canceledFault()))
        return find.call(deps.accessTokens, id, target, owner)
      },
  )
  const before = upstream.requests.length
  const messages = [{ role: 'user', content: 'x '.repeat(300_000) }]
  const response = await app.call('/v1/chat', { ...PRICED_CHAT, messages })
  expect(await response.json()).toMatchObject({ error: { code: 'request_canceled' } })
  expect(upstream.requests).toHaveLength(before)
})
