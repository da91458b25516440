import { DatabaseError } from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Seed } from '../../core/limits/meter.ts'
import { SeedStatementError } from '../../ledger/seed-source.ts'
import { makeMeter, T } from '../../ledger/testing/make-meter.ts'
import type { RecordBarrier } from './records.ts'
import { openSeedSource } from './seed-source.ts'

interface Read {
  readonly orgId: string
  readonly statementTimeoutMs: number
  end(error?: Error): void
}

describe('the source of seeds', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  const open = (afterFlush: RecordBarrier['afterFlush'] = read => read(new Set(['missing']))) => {
    const running: Read[] = []
    const seeds = openSeedSource({
      stored: { afterFlush },
      openSnapshot: async statementTimeoutMs => ({
        listSeeds: meters =>
          new Promise<Seed[]>((resolve, reject) => {
            const { orgId } = meters[0]?.subject ?? { orgId: '' }
            const end = (error?: Error): void =>
              error === undefined ? resolve(meters.map(() => ({ used: 1, entries: [] }))) : reject(error)
            running.push({ orgId, statementTimeoutMs, end })
          }),
        close: async () => {},
      }),
    })
    const read = (orgIds: readonly string[], timeoutMs = 25_000) =>
      seeds.read(
        orgIds.map(orgId => makeMeter('budget', 10, { subject: { orgId } })),
        T,
        missing => expect([...missing]).toEqual(['missing']),
        [],
        timeoutMs,
      )
    return { running, read }
  }
  const orgIdsOf = (reads: readonly Read[]): string[] => reads.map(({ orgId }) => orgId)

  test('reads four times at once, and twice for an organization, whose others wait as long as they may take', async () => {
    const { running, read } = open()
    const slow = Array.from({ length: 10 }, () => read(['slow'], 8_000))
    const failed = Promise.allSettled(slow.slice(2))
    const several = read(['a', 'b'], 8_000)
    const others = [read(['c'], 8_000), read(['d'], 8_000)]
    await vi.advanceTimersByTimeAsync(0)
    expect(orgIdsOf(running)).toEqual(['slow', 'slow', 'a', 'c'])
    running[2]?.end()
    expect(await several).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(7_999)
    expect(orgIdsOf(running)).toEqual(['slow', 'slow', 'a', 'c', 'd'])
    await vi.advanceTimersByTimeAsync(1)
    for (const { status } of await failed) expect(status).toBe('rejected')
    for (const { end } of running) end()
    expect(await Promise.all([...slow.slice(0, 2), ...others])).toHaveLength(4)
    // None of those that were given up is read later.
    await vi.advanceTimersByTimeAsync(60_000)
    expect(running).toHaveLength(5)
  })

  test('gives the statement what is left of the timeout after the wait for other reads', async () => {
    const { running, read } = open()
    const [first] = ['a', 'b', 'c', 'd'].map(orgId => read([orgId]))
    const second = read(['e'], 8_000)
    await vi.advanceTimersByTimeAsync(3_000)
    running[0]?.end()
    await first
    await vi.advanceTimersByTimeAsync(0)
    expect(running.map(({ statementTimeoutMs }) => statementTimeoutMs).slice(3)).toEqual([25_000, 5_000])
    running.at(-1)?.end()
    await second
  })

  test('gives up records that are not stored in 8 seconds, for all reads, and never reads later', async () => {
    let store: () => void = () => {}
    const signals: (AbortSignal | undefined)[] = []
    const { running, read } = open(async (run, signal) => {
      signals.push(signal)
      await new Promise<void>(resolve => {
        store = resolve
      })
      return await run(new Set(['missing']))
    })
    const failed = read(['a'], 25_000).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(7_999)
    expect(signals[0]?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await failed).toEqual(new Error('earlier usage records were not stored within 8000 ms'))
    expect(await failed).not.toBeInstanceOf(SeedStatementError)
    expect(signals[0]?.aborted).toBe(true)
    store()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(running).toEqual([])
    // The time is for the records alone, not for the read.
    const slow = read(['a'], 25_000)
    await vi.advanceTimersByTimeAsync(7_000)
    store()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(running.map(({ statementTimeoutMs }) => statementTimeoutMs)).toEqual([25_000])
    running[0]?.end()
    expect(await slow).toHaveLength(1)
    expect(signals[1]?.aborted).toBe(false)
  })

  test('names a statement that took too long or failed at its data, and passes on what concerns all reads', async () => {
    const { running, read } = open()
    for (const [code, isOfStatement] of [
      ['57014', true],
      ['22003', true],
      ['57P01', false],
    ] as const) {
      const failed = read(['a']).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(0)
      running.at(-1)?.end(Object.assign(new DatabaseError('failed', 1, 'error'), { code }))
      expect((await failed) instanceof SeedStatementError).toBe(isOfStatement)
    }
  })
})
