import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'

interface Call {
  readonly id: string
  isAnswered: boolean
}

/** Calls in their order, with the place of the first that may have no result yet. */
interface Queue {
  readonly calls: Call[]
  next: number
}

/**
 * Tool calls of a conversation that have no result yet. Each result finds its call in constant time on average: a body may
 * have a hundred thousand of them.
 */
export class PendingCalls {
  readonly #all: Queue = { calls: [], next: 0 }
  readonly #byId = new Map<string, Queue>()
  readonly #byName = new Map<string, Queue>()

  add(id: string, name: string): void {
    const call = { id, isAnswered: false }
    this.#all.calls.push(call)
    addTo(this.#byId, plainToolCallId(id), call)
    addTo(this.#byName, name, call)
  }

  /**
   * Returns the id of the call that a result answers; undefined: no call is left. Newer clients name the call, older ones
   * its tool or nothing: then it is the next call in order.
   */
  take(id: string | undefined, name: string | undefined): string | undefined {
    const call =
      (id === undefined ? undefined : takeNext(this.#byId.get(plainToolCallId(id)))) ??
      (name === undefined ? undefined : takeNext(this.#byName.get(name))) ??
      takeNext(this.#all)
    return call?.id
  }
}

function addTo(queues: Map<string, Queue>, key: string, call: Call): void {
  const queue = queues.get(key)
  if (queue === undefined) queues.set(key, { calls: [call], next: 0 })
  else queue.calls.push(call)
}

function takeNext(queue: Queue | undefined): Call | undefined {
  if (queue === undefined) return undefined
  while (queue.next < queue.calls.length) {
    const call = queue.calls[queue.next++]
    if (call === undefined || call.isAnswered) continue
    call.isAnswered = true
    return call
  }
  return undefined
}
