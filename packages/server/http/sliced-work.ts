/** Work that is too long for one turn of the event loop. */
export interface SlicedWork {
  /** Does some milliseconds of it at most. True: it is done. */
  step(): boolean
}

interface Waiting {
  readonly work: SlicedWork
  readonly isUnwanted: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** What all such work together may take of one turn, so that as many as come at once hold it no longer than one. */
const TURN_MS = 8

const queue: Waiting[] = []

/** Resolves once the work is done, or given up because nobody wants it any more. Whoever waits gets a slice in turn. */
export function runInSlices(work: SlicedWork, isUnwanted: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    if (queue.push({ work, isUnwanted, resolve, reject }) === 1) setImmediate(runTurn)
  })
}

function runTurn(): void {
  const first = queue[0]
  if (first === undefined) return
  const isDone = runUntil(first, performance.now() + TURN_MS)
  queue.shift()
  // Whoever is done goes on in this turn, so nothing else begins in it.
  if (!isDone) queue.push(first)
  if (queue.length > 0) setImmediate(runTurn)
}

/** True: it waits no longer. */
function runUntil({ work, isUnwanted, resolve, reject }: Waiting, until: number): boolean {
  try {
    while (!isUnwanted() && !work.step()) if (performance.now() >= until) return false
    resolve()
  } catch (error) {
    reject(error)
  }
  return true
}
