import { CallerDebts } from './caller-debts.ts'
import { loopTurns, SLICE_MS, type TurnTaker, UNKNOWN_OWNER, type WorkOwner } from './loop-turns.ts'

/** The next long work of a caller waits for this multiple of the time that its refused long work took. */
const REFUSED_FACTOR = 20
/** The longest of these waits, in milliseconds. */
const MAX_DEBT_MS = 5_000

/** The debts of callers whose long requests were refused, in this process. */
const refused = new CallerDebts(MAX_DEBT_MS, 0)

/**
 * Counts the long work of a refused request. Nobody pays for it, no limit counts it, and without a wait a caller could keep a processor
 * busy with it. The long work of the caller's next requests begins later for it.
 */
export function countRefused(owner: WorkOwner): void {
  if (owner.longWork !== undefined) refused.add(owner, owner.longWork.ms * REFUSED_FACTOR, performance.now())
}

/** Begins to count the long work of a request, if it is its first before a provider is called. Returns how long this work waits, in milliseconds. */
function startLongWork(owner: WorkOwner): number {
  if (owner.caller === undefined || owner.longWork !== undefined || owner.firstAttemptAt !== undefined)
    return 0
  owner.longWork = { ms: 0 }
  return refused.waitMs(owner, performance.now())
}

/** Work that is too long for one tick of the event loop. */
export interface SlicedWork {
  /** Does at most a few milliseconds of the work. Returns true when it is done. */
  step(): boolean
}

/**
 * Does work in slices, for which it waits its turns in the event loop. Resolves once the work is done, or given up because
 * `isUnwanted` returned true. Rejects with what the work throws.
 */
export function runInSlices(
  work: SlicedWork,
  isUnwanted: () => boolean,
  owner: WorkOwner = UNKNOWN_OWNER,
): Promise<void> {
  return new Promise((resolve, reject) => {
    loopTurns.waitFor(new WaitingWork(owner, work, isUnwanted, resolve, reject), startLongWork(owner))
  })
}

const STEP: SlicedWork = { step: () => true }
const never = (): boolean => false

/**
 * Resolves when it is the owner's turn in the event loop. The turn is what the caller then does until it awaits something: a
 * step of a long request that cannot be divided.
 */
export function takeTurn(owner: WorkOwner = UNKNOWN_OWNER): Promise<void> {
  return runInSlices(STEP, never, owner)
}

const noStop = (): undefined => undefined

/**
 * Runs the steps of work that yields between them, in the owner's turns. Returns its result. Rejects with the error of `findStop` as soon
 * as there is one, and takes no further step.
 */
export async function runSteps<T>(
  steps: Generator<void, T>,
  owner: WorkOwner = UNKNOWN_OWNER,
  findStop: () => Error | undefined = noStop,
): Promise<T> {
  let result: { readonly value: T } | undefined
  const step = (): boolean => {
    const next = steps.next()
    if (next.done === true) result = { value: next.value }
    return next.done === true
  }
  await runInSlices({ step }, () => findStop() !== undefined, owner)
  const stop = findStop()
  if (stop !== undefined) throw stop
  if (result === undefined) throw new Error('the steps ended without a result')
  return result.value
}

class WaitingWork implements TurnTaker {
  readonly origin = ''
  readonly owner: WorkOwner
  readonly #work: SlicedWork
  readonly isUnwanted: () => boolean
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void

  constructor(
    owner: WorkOwner,
    work: SlicedWork,
    isUnwanted: () => boolean,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.owner = owner
    this.#work = work
    this.isUnwanted = isUnwanted
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Nothing else is done in its tick, since the caller of finished work goes on in it. */
  takeTurn(): boolean {
    const until = performance.now() + SLICE_MS
    try {
      while (!this.isUnwanted() && !this.#work.step()) {
        if (performance.now() < until) continue
        loopTurns.wait(this)
        return true
      }
      this.#resolve()
    } catch (error) {
      this.#reject(error)
    }
    return true
  }
}
