import { DatabaseError } from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Seed } from '../../core/limits/meter.ts'
import { SeedStatementError } from '../../ledger/seed-source.ts'
import { makeMeter, T } from '../../ledger/testing/make-meter.ts'
import { openSeedSource } from './seed-source.ts'

interface Read {
  readonly orgId: string
  readonly statementTimeoutMs: number
  end(error?: Error): void
}

describe('the source of seeds', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  const open = () => {
    const running: Read[] = []
    const seeds = openSeedSource({
      stored: { afterFlush: read => read(new Set(['missing'])) },
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
