import type { ShareOwner } from '../core/admission/connection-shares.ts'
import { loopTurns, SLICE_MS, type TurnTaker, UNKNOWN_OWNER } from './loop-turns.ts'

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
  owner: ShareOwner = UNKNOWN_OWNER,
): Promise<void> {
  return new Promise((resolve, reject) => {
    loopTurns.wait(new WaitingWork(owner, work, isUnwanted, resolve, reject))
  })
}

const STEP: SlicedWork = { step: () => true }
const never = (): boolean => false

/**
 * Resolves when it is the owner's turn in the event loop. The turn is what the caller then does until it awaits something: a
 * step of a long request that cannot be divided.
 */
export function takeTurn(owner: ShareOwner = UNKNOWN_OWNER): Promise<void> {
  return runInSlices(STEP, never, owner)
}

/** Runs the steps of work that yields between them, in the owner's turns. Returns its result. */
export async function runSteps<T>(steps: Generator<void, T>, owner: ShareOwner = UNKNOWN_OWNER): Promise<T> {
  let result: { readonly value: T } | undefined
  const step = (): boolean => {
    const next = steps.next()
    if (next.done === true) result = { value: next.value }
    return next.done === true
  }
  await runInSlices({ step }, never, owner)
  if (result === undefined) throw new Error('the steps ended without a result')
  return result.value
}

/** Runs short work that yields between its steps, in this tick of the event loop. */
export function runAtOnce<T>(steps: Generator<void, T>): T {
  let next = steps.next()
  while (next.done !== true) next = steps.next()
  return next.value
}

class WaitingWork implements TurnTaker {
  readonly origin = ''
  readonly owner: ShareOwner
  readonly #work: SlicedWork
  readonly #isUnwanted: () => boolean
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void

  constructor(
    owner: ShareOwner,
    work: SlicedWork,
    isUnwanted: () => boolean,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.owner = owner
    this.#work = work
    this.#isUnwanted = isUnwanted
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Nothing else is done in its tick, since the caller of finished work goes on in it. */
  takeTurn(): boolean {
    const until = performance.now() + SLICE_MS
    try {
      while (!this.#isUnwanted() && !this.#work.step()) {
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
