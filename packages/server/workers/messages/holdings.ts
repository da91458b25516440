import { type OnException, runGuarded } from '../../core/on-exception.ts'
import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const HOLDINGS = 'holdings'
const OTHERS = 'holdings of the others'
/** How often a worker looks for a change of its own. */
const EVERY_MS = 50
/** A change by this part of a capacity is reported at once. */
const PART = 1 / 64
/** How often a worker reports and asks without a change, so that the holdings of one that was killed are forgotten. */
const REPEAT_MS = 1_000
const TIMEOUT_MS = 500

/** A capacity that all workers share. */
export interface SharedCapacity {
  readonly capacity: number
  /** What this worker uses of it. */
  readonly used: number
  /** What the others use of it. */
  elsewhere: number
}

/** Tells each worker how much the others use. */
export function serveHoldings(calls: SupervisorCalls): void {
  const known = new Map<string, readonly number[]>()
  const sumWithout = (except: string): number[] => {
    const sums: number[] = []
    for (const [worker, used] of known) {
      if (worker !== except) for (const [at, amount] of used.entries()) sums[at] = (sums[at] ?? 0) + amount
    }
    return sums
  }
  calls.handle(HOLDINGS, (body, from) => {
    const { used, isChange } = body as { used: readonly number[]; isChange: boolean }
    const { workers } = calls
    for (const worker of known.keys()) if (!workers.includes(worker)) known.delete(worker)
    known.set(from, used)
    if (isChange) {
      for (const worker of workers) if (worker !== from) calls.notify(worker, OTHERS, sumWithout(worker))
    }
    return sumWithout(from)
  })
}

/** Shares capacities, which all workers list in the same order, with the other workers. Without its supervisor each has the whole. */
export function connectHoldings(
  calls: WorkerCalls,
  capacities: readonly SharedCapacity[],
  onException: OnException,
): { close(): void } {
  const setOthers = (sums: readonly number[]): void => {
    for (const [at, capacity] of capacities.entries()) capacity.elsewhere = sums[at] ?? 0
  }
  let sent = capacities.map(() => 0)
  let sentAt = Number.NEGATIVE_INFINITY
  const report = async (): Promise<void> => {
    const isChange = capacities.some(
      ({ used, capacity }, at) => Math.abs(used - (sent[at] ?? 0)) >= Math.max(1, capacity * PART),
    )
    const now = performance.now()
    if (!isChange && now - sentAt < REPEAT_MS) return
    sentAt = now
    sent = capacities.map(({ used }) => used)
    const others = await calls.call(HOLDINGS, { used: sent, isChange }, TIMEOUT_MS).catch(() => undefined)
    if (others !== undefined) setOthers(others as readonly number[])
  }
  calls.handle(OTHERS, body => setOthers(body as readonly number[]))
  calls.onConnection(
    () => {
      sentAt = Number.NEGATIVE_INFINITY
    },
    () => setOthers([]),
  )
  const timer = setInterval(() => runGuarded('the holdings of this worker', onException, report), EVERY_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
