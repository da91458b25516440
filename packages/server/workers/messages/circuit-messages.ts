import type { CircuitName, CircuitSharing, CircuitUpdate } from '../../core/circuit-sharing.ts'
import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const NEWS = 'circuit'
const KNOWN = 'known circuits'
const CLAIM = 'claim probe'
const RELEASE = 'release probe'
const TIMEOUT_MS = 500
/** News that are kept for workers that start later, and for how long. */
const MAX_KEPT = 20_000
const KEPT_MS = 10 * 60_000

interface RememberedUpdate {
  readonly news: CircuitUpdate
  /** Unix milliseconds. */
  readonly at: number
}

interface Probe {
  readonly worker: string
  /** Unix milliseconds. */
  readonly until: number
}

/**
 * Tells all workers what the circuits of one do, those that start later too, and lets one at a time probe a target. `now`
 * returns Unix milliseconds.
 */
export function serveCircuits(calls: SupervisorCalls, now: () => number): void {
  const kept = new Map<string, RememberedUpdate>()
  const probes = new Map<string, Probe>()
  calls.handle(NEWS, (body, from) => {
    const news = body as CircuitUpdate
    const key = toKey(news)
    // Deleted first, so that the map stays in the order of the news.
    kept.delete(key)
    if (news.change !== 'close') kept.set(key, { news, at: now() })
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value as string)
    calls.notifyAll(NEWS, news, from)
  })
  calls.handle(CLAIM, (body, worker) => {
    const { name, leaseMs } = body as { name: CircuitName; leaseMs: number }
    const at = now()
    for (const [key, { until }] of probes) if (until <= at) probes.delete(key)
    const key = toKey(name)
    if (probes.has(key)) return false
    probes.set(key, { worker, until: at + leaseMs })
    return true
  })
  calls.handle(RELEASE, (body, worker) => {
    const key = toKey(body as CircuitName)
    if (probes.get(key)?.worker === worker) probes.delete(key)
  })
  calls.handle(KNOWN, (_, worker) => {
    const time = now()
    for (const [key, { news, at }] of kept) {
      if (time - at > KEPT_MS) kept.delete(key)
      else calls.notify(worker, NEWS, toCurrent(news, time - at))
    }
  })
}

/** Shares the circuits of this worker. Without its supervisor each worker is on its own. */
export function connectCircuits(calls: WorkerCalls, apply: (news: CircuitUpdate) => void): CircuitSharing {
  calls.handle(NEWS, body => apply(body as CircuitUpdate))
  calls.onConnection(
    () => calls.notify(KNOWN, null),
    () => {},
  )
  return {
    publish(news) {
      calls.notify(NEWS, news)
    },
    async claimProbe({ credentialId, provider, model }, leaseMs) {
      try {
        const name = { credentialId, provider, model }
        return (await calls.call(CLAIM, { name, leaseMs }, TIMEOUT_MS)) === true
      } catch {
        return true
      }
    },
    releaseProbe({ credentialId, provider, model }) {
      calls.notify(RELEASE, { credentialId, provider, model })
    },
  }
}

/** Returns news of `ageMs` ago as they are now. */
function toCurrent(news: CircuitUpdate, ageMs: number): CircuitUpdate {
  if (news.change === 'open') {
    return { ...news, retryInMs: news.retryInMs - ageMs, openForMs: news.openForMs + ageMs }
  }
  return news.change === 'rest' ? { ...news, restMs: Math.max(0, news.restMs - ageMs) } : news
}

function toKey({ credentialId, model }: CircuitName): string {
  return JSON.stringify([credentialId, model])
}
