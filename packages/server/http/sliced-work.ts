/** Work that is too long for one tick of the event loop. */
export interface SlicedWork {
  /** Does at most a few milliseconds of the work. Returns true when it is done. */
  step(): boolean
}

/** Resolves in a later tick of the event loop, once waiting I/O of other requests was handled. */
export function endTick(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

interface Waiting {
  readonly work: SlicedWork
  readonly isUnwanted: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The time for all sliced work in one tick, so that many works block the event loop no longer than one. */
const SLICE_MS = 2

const queue: Waiting[] = []

/**
 * Does work in slices of 2 ms, one slice in each tick of the event loop; waiting works get their slices in rotation. Another
 * request takes several ticks, so slices are short. Resolves once the work is done, or given up because `isUnwanted` returned
 * true. Rejects with what the work throws.
 */
export function runInSlices(work: SlicedWork, isUnwanted: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    if (queue.push({ work, isUnwanted, resolve, reject }) === 1) setImmediate(runSlice)
  })
}

function runSlice(): void {
  const first = queue[0]
  if (first === undefined) return
  const isDone = runUntil(first, performance.now() + SLICE_MS)
  queue.shift()
  // The caller of finished work continues in this tick, so no other work begins in it.
  if (!isDone) queue.push(first)
  if (queue.length > 0) setImmediate(runSlice)
}

/** Returns true if the work has ended: done, unwanted or failed. */
function runUntil({ work, isUnwanted, resolve, reject }: Waiting, until: number): boolean {
  try {
    while (!isUnwanted() && !work.step()) if (performance.now() >= until) return false
    resolve()
  } catch (error) {
    reject(error)
  }
  return true
}
