import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'

interface PendingCall {
  readonly id: string
  isTaken: boolean
}

/** In the order of the calls. Taken ones are skipped when they come first, so that each is passed once. */
interface Queue {
  readonly calls: PendingCall[]
  first: number
}

/** The calls of a conversation that have no result yet. Its time does not depend on how many there are. */
export class PendingCalls {
  readonly #byId = new Map<string, Queue>()
  readonly #byName = new Map<string, Queue>()

  add(id: string, name: string): void {
    const call = { id, isTaken: false }
    addTo(this.#byId, plainToolCallId(id), call)
    addTo(this.#byName, name, call)
  }

  /** Takes out the first call of this id, else the first one of this function; undefined: there is none. */
  take(id: string | undefined, name: string): string | undefined {
    const call =
      (id === undefined ? undefined : takeFrom(this.#byId.get(plainToolCallId(id)))) ??
      takeFrom(this.#byName.get(name))
    return call?.id
  }
}

function addTo(queues: Map<string, Queue>, key: string, call: PendingCall): void {
  const queue = queues.get(key)
  if (queue === undefined) queues.set(key, { calls: [call], first: 0 })
  else queue.calls.push(call)
}

function takeFrom(queue: Queue | undefined): PendingCall | undefined {
  while (queue !== undefined && queue.first < queue.calls.length) {
    const call = queue.calls[queue.first++] as PendingCall
    if (call.isTaken) continue
    call.isTaken = true
    return call
  }
  return undefined
}
