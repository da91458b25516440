import { EventEmitter } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import type { App } from './app.ts'
import type { StopCounts } from './process/close-server.ts'
import { StopOnSignals } from './stop-on-signals.ts'

let now: number
let signals: EventEmitter
let lines: string[]
let events: string[]
/** Resolves with the first exit code. */
let exited: Promise<number>
let stopping: StopOnSignals
let closing: PromiseWithResolvers<StopCounts>
/** Whether a SIGHUP asks for other workers. */
let isReplacement: boolean

interface PromiseWithResolvers<T> {
  promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  const result = {} as PromiseWithResolvers<T>
  result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }))
  return result
}

beforeEach(() => {
  now = 1_800_000_000_000
  signals = new EventEmitter()
  lines = []
  events = []
  isReplacement = false
  closing = withResolvers()
  const exit = withResolvers<number>()
  exited = exit.promise
  const write = (_: object, message: string): void => void lines.push(message)
  stopping = new StopOnSignals({
    signals,
    clock: { now: () => now },
    log: { info: write, warn: write, fatal: write },
    isReplacement: () => isReplacement,
    endDatabase: async () => void events.push('database ended'),
    exit: code => {
      events.push(`exit ${code}`)
      exit.resolve(code)
    },
    forcedCloseMs: 1,
  })
})

const app = (cut: StopCounts = { finished: 0, cut: 0 }): App => ({
  gatewayUrl: undefined,
  controlUrl: undefined,
  metricsUrl: undefined,
  setupToken: undefined,
  close() {
    events.push('close')
    return closing.promise
  },
  async replaceWorkers() {
    events.push('replace')
  },
  async cut() {
    events.push('cut')
    return cut
  },
})

describe('the program', () => {
  test('stops once however many signals come within a second, and logs what became of the requests', async () => {
    stopping.started(app())
    for (const name of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP']) signals.emit(name, name)
    closing.resolve({ finished: 2, cut: 1 })
    expect(await exited).toBe(0)
    expect(events).toEqual(['close', 'exit 0'])
    expect(lines.at(-1)).toBe('stopped: 2 requests finished, 1 request cut')
  })

  test('replaces its workers on each SIGHUP that asks for it, but not before it has started or once it stops', async () => {
    isReplacement = true
    signals.emit('SIGHUP', 'SIGHUP')
    stopping.started(app())
    expect(events).toEqual([])
    for (const name of ['SIGHUP', 'SIGHUP', 'SIGTERM', 'SIGHUP']) signals.emit(name, name)
    closing.resolve({ finished: 0, cut: 0 })
    expect(await exited).toBe(0)
    expect(events).toEqual(['replace', 'replace', 'close', 'exit 0'])
  })

  test('stops on a SIGHUP of a terminal that has gone', async () => {
    stopping.started(app())
    signals.emit('SIGHUP', 'SIGHUP')
    closing.resolve({ finished: 0, cut: 0 })
    expect(await exited).toBe(0)
    expect(events).toEqual(['close', 'exit 0'])
  })

  test('stops as soon as it has started if a signal arrives while it starts', async () => {
    signals.emit('SIGTERM', 'SIGTERM')
    expect(events).toEqual([])
    stopping.started(app())
    closing.resolve({ finished: 0, cut: 0 })
    expect(await exited).toBe(0)
    expect(events).toEqual(['close', 'exit 0'])
    expect(lines.at(-1)).toBe('stopped: no request was running')
  })

  test('ends its database and exits with 1 if a second signal arrives while it starts', async () => {
    signals.emit('SIGINT', 'SIGINT')
    now += 1_000
    signals.emit('SIGINT', 'SIGINT')
    expect(await exited).toBe(1)
    expect(events).toEqual(['database ended', 'exit 1'])
  })

  test('cuts requests at a later signal, and exits with 1 once it has closed in order', async () => {
    stopping.started(app())
    signals.emit('SIGINT', 'SIGINT')
    now += 1_000
    signals.emit('SIGINT', 'SIGINT')
    closing.resolve({ finished: 0, cut: 3 })
    expect(await exited).toBe(1)
    expect(events).toEqual(['close', 'cut', 'exit 1'])
    expect(lines.at(-1)).toBe('stopped: 0 requests finished, 3 requests cut')
  })

  test('ends its database at a later signal if it does not close', async () => {
    stopping.started(app({ finished: 1, cut: 2 }))
    signals.emit('SIGINT', 'SIGINT')
    now += 1_000
    signals.emit('SIGTERM', 'SIGTERM')
    expect(await exited).toBe(1)
    expect(events).toEqual(['close', 'cut', 'database ended', 'exit 1'])
    expect(lines.at(-1)).toBe('ended by force: 1 request finished, 2 requests cut')
  })

  test('ends its database and exits with 1 if it cannot close in order', async () => {
    stopping.started(app())
    signals.emit('SIGINT', 'SIGINT')
    closing.reject(new Error('a part does not close'))
    expect(await exited).toBe(1)
    expect(events).toEqual(['close', 'database ended', 'exit 1'])
  })
})
