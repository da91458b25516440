import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  type UpstreamAnswer,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT, USED } from '../../testing/harness/limited-app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'
import type { GatewayDeps } from '../deps.ts'
import { RequestContext } from '../request/request-context.ts'
import type { UpstreamHandler } from '../upstream/transport.ts'

interface LogLine {
  readonly alarm?: string
  readonly requestId?: string
  readonly where?: string
}

let limited: LimitedApp
let deps: GatewayDeps
let log: LogLine[] = []
/** Called with each request context of the gateway when it is created. */
let onOpened: (ctx: RequestContext) => void = () => {}
/** Functions that undo what a test replaced. */
const restores: (() => void)[] = []

beforeAll(async () => {
  limited = await openLimitedApp({ LOG_LEVEL: 'error' }, { write: line => void log.push(JSON.parse(line)) })
  deps = limited.deps
  const { add } = deps.ticker
  deps.ticker.add = ticking => {
    add(ticking)
    if (ticking instanceof RequestContext) onOpened(ticking)
  }
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  log = []
  onOpened = () => {}
  await limited.reset()
})

afterEach(restoreAll)

function restoreAll(): void {
  for (const restore of restores.splice(0)) restore()
}

const broken = (): never => {
  throw new Error('scripted')
}

/** Replaces a property until the end of the test. */
function replace<T extends object, K extends keyof T>(
  object: T,
  name: K,
  make: (before: T[K]) => T[K],
): void {
  restores.push(replaceProperty(object, name, make))
}

/** Replaces a property of an object that is discarded with its request. */
function put(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { configurable: true, writable: true, value })
}

const ask = (content: string, fields: object = {}) => ({
  ...PRICED_CHAT,
  ...fields,
  messages: [{ role: 'user', content }],
})

/** Returns an object of its own that passes everything on to the handler of an upstream call. */
function delegateTo(handler: UpstreamHandler): UpstreamHandler {
  return {
    ...(handler.isStream === true ? { isStream: true } : {}),
    onStart: (status, readHeaders) => handler.onStart(status, readHeaders),
    onData: chunk => handler.onData(chunk),
    onEnd: () => handler.onEnd(),
    onFail: error => handler.onFail(error),
    onCrash: error => handler.onCrash(error),
  }
}

/** Serves other callers like a scripted provider, and the affected one with `toVictim`. */
function scriptFor(toVictim: UpstreamAnswer): { called: Promise<void>; release: () => void } {
  let called: () => void = () => {}
  let release: () => void = () => {}
  const calling = new Promise<void>(resolve => {
    called = resolve
  })
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  limited.upstream.script(async (res, seen) => {
    if (seen.text.includes('harmed')) {
      called()
      return await toVictim(res, seen)
    }
    if (!seen.text.includes('concurrent')) return await completion('later', { usage: USED })(res, seen)
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ content: 'first' }))
    await released
    res.end(chunk({ content: ' last' }) + chunk({}, 'stop') + usageChunk(USED) + DONE)
  })
  return { called: calling, release }
}

/** Never answers. */
const silent: UpstreamAnswer = () => {}
/** Begins a stream, and ends it only when it is aborted. */
const begun: UpstreamAnswer = res => {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.write(chunk({ content: 'a' }))
}
const whole: UpstreamAnswer = completion('hello', { usage: USED })
const streamed: UpstreamAnswer = res => {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.end(chunk({ content: 'a' }) + chunk({}, 'stop') + usageChunk(USED) + DONE)
}

interface Point {
  readonly stream?: boolean
  /** Additional fields of the body. */
  readonly fields?: object
  readonly answer?: UpstreamAnswer
  /** Breaks something of the request when it arrives. */
  readonly open?: (ctx: RequestContext) => void
  /** Runs once the provider was called. */
  readonly after?: (ctx: RequestContext, call: AbortController) => unknown
  /** The answer that the caller gets. undefined: no complete answer. */
  readonly text?: RegExp
}

/** Makes a request that meets an exception, while another one is served and before a third. */
async function harm({
  stream = false,
  fields = {},
  answer = whole,
  open,
  after,
  text,
}: Point): Promise<void> {
  const { key, budget } = await limited.freshKey(100)
  const id = crypto.randomUUID()
  const { called, release } = scriptFor(answer)
  restores.push(release)
  const concurrent = await limited.app.call('/v1/chat', ask('concurrent', { stream: true }))
  let ctx: RequestContext | undefined
  onOpened = opened => {
    if (opened.requestId !== id) return
    ctx = opened
    open?.(opened)
  }
  const call = new AbortController()
  const answered = fetch(`${limited.app.gatewayUrl}/v1/chat`, {
    method: 'POST',
    signal: call.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify(ask('harmed', { ...fields, stream })),
  })
    .then(async response => `${response.status} ${await response.text()}`)
    .catch(() => 'cut')
  if (after !== undefined) {
    await called
    await after(ctx as RequestContext, call)
  }
  if (text === undefined) expect(await answered).toMatch(/^cut$/)
  else expect(await answered).toMatch(text)
  release()
  expect(await concurrent.text()).toContain(' last')
  const later = await limited.app.call('/v1/chat', ask('later'))
  expect([later.status, await later.text()]).toEqual([200, expect.stringContaining('later')])
  await expect.poll(() => deps.reservations.size).toBe(0)
  expect(deps.runningRequests.size).toBe(0)
  expect(await budget()).toMatchObject({ reserved_usd: 0 })
  expect(log.filter(({ alarm }) => alarm === 'exception').map(({ requestId }) => requestId)).toContain(id)
}

const FAILED = /^500 .*internal_error/s
const BROKEN_OFF = /^200 .*internal_error/s

describe('ends only the affected request, with an alarm of its id, after an exception in', () => {
  test.each<[string, Point]>([
    ['its tick', { answer: silent, open: ctx => put(ctx, 'tick', broken), text: FAILED }],
    [
      'the tick of a stream',
      { stream: true, answer: silent, open: ctx => put(ctx, 'tick', broken), text: FAILED },
    ],
    [
      'the tick of a stream that has begun',
      { stream: true, answer: begun, after: ctx => put(ctx, 'tick', broken), text: BROKEN_OFF },
    ],
    [
      'a chunk',
      { stream: true, answer: streamed, open: ctx => put(ctx.res, 'write', broken), text: BROKEN_OFF },
    ],
    [
      'a chunk of a stream that has begun',
      {
        stream: true,
        answer: async (res, seen) => {
          await begun(res, seen)
          await expect.poll(() => harmed?.res.headersSent).toBe(true)
          put((harmed as RequestContext).res, 'write', broken)
          res.write(chunk({ content: 'b' }))
        },
        open: ctx => {
          harmed = ctx
        },
        text: BROKEN_OFF,
      },
    ],
    ['the head', { open: ctx => put(ctx.res, 'writeHead', broken) }],
    [
      'the head of a stream',
      { stream: true, answer: streamed, open: ctx => put(ctx.res, 'writeHead', broken) },
    ],
    [
      'the head, in a tick',
      {
        stream: true,
        answer: silent,
        open: ctx => {
          put(ctx.res, 'writeHead', broken)
          const { tick } = ctx
          // As if a silence had passed that needs a keep-alive.
          put(ctx, 'tick', (now: number) => tick.call(ctx, now + 20_000))
        },
      },
    ],
    ['the end of the answer', { open: ctx => put(ctx.res, 'end', broken) }],
    [
      'the listener of its connection’s end',
      {
        answer: silent,
        after: (ctx, call) => {
          const { environment } = ctx
          Object.defineProperty(ctx, 'environment', {
            configurable: true,
            get() {
              put(ctx, 'environment', environment)
              return broken()
            },
          })
          call.abort()
        },
      },
    ],
    [
      'the stop of its wait',
      {
        answer: silent,
        open: ctx => {
          const { watch } = ctx
          put(ctx, 'watch', (onTick: (now: number) => void) => watch.call(ctx, onTick, broken))
        },
        after: async ctx => {
          const canceled = await limited.app.call(`/v1/requests/${ctx.requestId}/cancel`, {})
          expect(await canceled.json()).toMatchObject({ canceled: true })
        },
        text: FAILED,
      },
    ],
    [
      'the listener that lets a paused provider go on',
      {
        stream: true,
        answer: begun,
        open: ctx => {
          const { write } = ctx.res
          put(ctx.res, 'write', (bytes: Uint8Array) => {
            write.call(ctx.res, bytes, 'utf8')
            return false
          })
          replace(deps.http, 'call', call => (request, handler, owner) => {
            const made = call(request, handler, owner)
            if (request.body.includes('harmed')) put(made, 'resume', broken)
            return made
          })
        },
        after: async ctx => {
          await expect.poll(() => ctx.res.headersSent).toBe(true)
          ctx.res.emit('drain')
        },
        text: BROKEN_OFF,
      },
    ],
    ['the record', { open: ctx => breakRecord(ctx, broken), text: FAILED }],
    [
      'the record, later',
      { open: ctx => breakRecord(ctx, () => Promise.reject(new Error('scripted'))), text: FAILED },
    ],
    [
      'the record of a stream',
      { stream: true, answer: streamed, open: ctx => breakRecord(ctx, broken), text: BROKEN_OFF },
    ],
    [
      'the settlement of a reservation',
      {
        open: ctx =>
          replace(deps.reservations, 'settle', settle => (id, used) => {
            if (id === ctx.id) broken()
            settle.call(deps.reservations, id, used)
          }),
        text: FAILED,
      },
    ],
    [
      'the release of a reservation',
      {
        open: ctx =>
          replace(deps.reservations, 'release', release => id => {
            release.call(deps.reservations, id)
            if (id === ctx.id) broken()
          }),
        text: /^200 .*hello/s,
      },
    ],
    [
      'the answer of its failure',
      {
        fields: { temperature: 'high' },
        open: ctx =>
          replace(deps, 'baseUrl', baseUrl => () => (ctx.phase === 'ended' ? baseUrl() : broken())),
      },
    ],
    ...(['onStart', 'onData', 'onEnd', 'onFail'] as const).flatMap((name): [string, Point][] => {
      const answer: UpstreamAnswer = name === 'onFail' ? res => void res.destroy() : streamed
      const open = () => breakHandler(name)
      return [
        [`${name} of a plain call`, { answer: name === 'onFail' ? answer : whole, open, text: FAILED }],
        [`${name} of a streamed call`, { answer, stream: true, open, text: /^(200|500) .*internal_error/s }],
      ]
    }),
  ])('%s', async (_where, point) => {
    await harm(point)
  })

  let harmed: RequestContext | undefined

  function breakRecord(ctx: RequestContext, write: () => Promise<void>): void {
    replace(deps, 'writeRecord', before => record => (record.id === ctx.id ? write() : before(record)))
  }

  function breakHandler(name: 'onStart' | 'onData' | 'onEnd' | 'onFail'): void {
    replace(deps.http, 'call', call => (request, handler, owner) => {
      const isHarmed = request.body.includes('harmed')
      return call(request, isHarmed ? { ...delegateTo(handler), [name]: broken } : handler, owner)
    })
  }

  test('the task that joins the chunks of its body', async () => {
    const body = JSON.stringify(ask('joined'))
    replace(
      Buffer,
      'concat',
      concat => (list, size) => (size === body.length ? broken() : concat(list, size)),
    )
    const raw = await openRaw(limited.app.gatewayUrl)
    const id = crypto.randomUUID()
    const arrived = new Promise<RequestContext>(resolve => {
      onOpened = ctx => ctx.requestId === id && resolve(ctx)
    })
    raw.socket.write(
      `POST /v1/chat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${limited.app.secretKey}\r\nX-Request-Id: ${id}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    const { req } = await arrived
    await expect.poll(() => req.listenerCount('data')).toBe(1)
    const first = new Promise(resolve => req.once('data', resolve))
    raw.socket.write(body.slice(0, 9))
    await first
    raw.socket.write(body.slice(9))
    expect(await raw.until('internal_error')).toMatch(/^HTTP\/1\.1 500 /)
    expect(log.map(({ requestId }) => requestId)).toContain(id)
    raw.socket.destroy()
    expect((await limited.app.call('/v1/chat', ask('later'))).status).toBe(200)
  })
})
