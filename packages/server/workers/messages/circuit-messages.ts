import { FairCache } from '../../core/admission/fair-cache.ts'
import type { CircuitName } from '../../core/attempts/circuit.ts'
import type { CircuitSharing, CircuitUpdate } from '../../core/attempts/circuit-sharing.ts'
import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const TOPIC = 'circuit'
const KNOWN = 'known circuits'
const CLAIM = 'claim probe'
const RELEASE = 'release probe'
const TIMEOUT_MS = 500
/** The updates of all organizations that are kept for workers that start later, and for how long. */
const MAX_KEPT = 20_000
const KEPT_MS = 10 * 60_000

interface RememberedUpdate {
  readonly update: CircuitUpdate
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
 * returns Unix milliseconds. `maxKept`: of the updates that are kept for workers that start later, the organization with the most loses
 * its oldest one above this number.
 */
export function serveCircuits(calls: SupervisorCalls, now: () => number, maxKept = MAX_KEPT): void {
  const kept = new Map<string, RememberedUpdate>()
  const shares = new FairCache<true>(maxKept, key => kept.delete(key))
  /** By the circuit. As all leases are of one length, those that end first come first. */
  const probes = new Map<string, Probe>()
  calls.handle(TOPIC, (body, from) => {
    const update = body as CircuitUpdate
    const key = toKey(update)
    // Deleted first, so that the map stays in the order of the updates.
    kept.delete(key)
    if (update.change === 'close') shares.delete(key)
    else {
      kept.set(key, { update, at: now() })
      shares.set(update.orgId, key, true)
    }
    calls.notifyAll(TOPIC, update, from)
  })
  calls.handle(CLAIM, (body, worker) => {
    const { name, leaseMs } = body as { name: CircuitName; leaseMs: number }
    const at = now()
    for (const [ended, { until }] of probes) {
      if (until > at) break
      probes.delete(ended)
    }
    const key = toKey(name)
    if ((probes.get(key)?.until ?? 0) > at) return false
    // Deleted first, so that the map stays in the order of the claims.
    probes.delete(key)
    probes.set(key, { worker, until: at + leaseMs })
    return true
  })
  calls.handle(RELEASE, (body, worker) => {
    const key = toKey(body as CircuitName)
    if (probes.get(key)?.worker === worker) probes.delete(key)
  })
  calls.handle(KNOWN, (_, worker) => {
    const time = now()
    for (const [key, { update, at }] of kept) {
      if (time - at > KEPT_MS) {
        kept.delete(key)
        shares.delete(key)
      } else calls.notify(worker, TOPIC, toCurrent(update, time - at))
    }
  })
}

/** Shares the circuits of this worker. Without its supervisor each worker is on its own. */
export function connectCircuits(calls: WorkerCalls, apply: (update: CircuitUpdate) => void): CircuitSharing {
  calls.handle(TOPIC, body => apply(body as CircuitUpdate))
  calls.onConnection(
    () => calls.notify(KNOWN, null),
    () => {},
  )
  return {
    publish(update) {
      calls.notify(TOPIC, update)
    },
    async claimProbe({ orgId, credentialId, provider, model }, leaseMs) {
      try {
        const name = { orgId, credentialId, provider, model }
        return (await calls.call(CLAIM, { name, leaseMs }, TIMEOUT_MS)) === true
      } catch {
        return true
      }
    },
    releaseProbe({ orgId, credentialId, provider, model }) {
      calls.notify(RELEASE, { orgId, credentialId, provider, model })
    },
  }
}

/** Returns an update of `ageMs` ago as it is now. */
function toCurrent(update: CircuitUpdate, ageMs: number): CircuitUpdate {
  if (update.change === 'open') {
    return { ...update, retryInMs: update.retryInMs - ageMs, openForMs: update.openForMs + ageMs }
  }
  return update.change === 'rest' ? { ...update, restMs: Math.max(0, update.restMs - ageMs) } : update
}

function toKey({ credentialId, model }: CircuitName): string {
  return JSON.stringify([credentialId, model])
}
