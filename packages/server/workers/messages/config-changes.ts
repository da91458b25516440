import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const CHANGED = 'configuration changed'
const SUBSCRIBED = 'configuration subscribed'
const STATE = 'configuration state'
const BARRIER = 'configuration barrier'
/** A worker that takes longer has stalled. It applies the changes before it serves another request. */
const BARRIER_MS = 1000

/** Hands the supervisor's notifications of changes to its workers. */
export interface ConfigChanges {
  /** Hands on what changed, once a tick: the id of an environment, or another word that the database notifies. */
  publish(changed: string): void
  /** The database does not announce changes any more, or does so again. */
  setSubscribed(isSubscribed: boolean): void
  /** Resolves once every connected worker has applied what was published before. */
  barrier(): Promise<void>
}

export function serveConfigChanges(calls: SupervisorCalls): ConfigChanges {
  let isSubscribed = true
  calls.handle(STATE, (_, worker) => calls.notify(worker, SUBSCRIBED, isSubscribed))
  /** What was published in this tick. Whoever reloads what is sent once at its end sees all of these changes. */
  const published = new Set<string>()
  const send = (): void => {
    for (const changed of published) calls.notifyAll(CHANGED, changed)
    published.clear()
  }
  return {
    publish(changed) {
      if (published.size === 0) setImmediate(send)
      published.add(changed)
    },
    setSubscribed(value) {
      send()
      isSubscribed = value
      calls.notifyAll(SUBSCRIBED, value)
    },
    async barrier() {
      send()
      await calls.callAll(BARRIER, null, BARRIER_MS)
    },
  }
}

export interface ConfigChangesOptions {
  /** What ConfigChanges.publish was given. */
  readonly onChange: (changed: string) => void
  /** Changes are not announced any more: the supervisor, or its database, is unreachable. */
  readonly onLost: () => void
  /** They are announced again. What changed in between is unknown. */
  readonly onRestored: () => void
}

/** Applies the changes that the supervisor announces. They count as lost until it has said once that they are announced. */
export function connectConfigChanges(calls: WorkerCalls, options: ConfigChangesOptions): void {
  const { onChange, onLost, onRestored } = options
  let isAnnounced = false
  const set = (value: boolean): void => {
    if (value === isAnnounced) return
    isAnnounced = value
    if (value) onRestored()
    else onLost()
  }
  calls.handle(CHANGED, body => onChange(body as string))
  calls.handle(SUBSCRIBED, body => set(body === true))
  calls.handle(BARRIER, () => null)
  onLost()
  calls.onConnection(
    () => calls.notify(STATE, null),
    () => set(false),
  )
}
