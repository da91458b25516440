import type { Circuit } from '../../core/attempts/circuit.ts'
import { systemClock } from '../../core/clock.ts'
import { type CircuitChange, Circuits, IDLE_MS } from '../../gateway/attempts/circuits.ts'
import { openCircuitsJob } from '../../jobs/circuits-job.ts'
import { openCircuitMessages } from '../../redis/circuit-messages.ts'
import { type StoredCircuit, storeCircuit } from '../../storage/models/circuits.ts'
import { connectCircuits } from '../../workers/messages/circuit-messages.ts'
import type { AppParts } from './app-parts.ts'

/**
 * Creates the circuits of this process: shared over Redis if there is one, else with the other workers of the machine, and
 * stored for the control plane when they change.
 */
export function openCircuits(parts: AppParts): Circuits {
  const { config, log, exceptions, storage, closers, newId, worker } = parts
  const tools = { clock: systemClock, newId }
  const job = openCircuitsJob<StoredCircuit>({
    store: circuit => storeCircuit(storage.db, circuit, tools),
    log,
    onException: exceptions.note,
  })
  closers.push(() => job.close())
  const onChange = ({ transition, circuit }: CircuitChange): void => {
    const { credentialId, provider, model, failureRate, retryAt } = circuit
    if (transition !== 'reopened')
      log.warn(
        { credentialId, provider, model, failureRate },
        transition === 'opened' ? 'a circuit opened' : 'a circuit closed',
      )
    job.note(circuit.orgId, toStored(circuit, transition === 'opened', retryAt))
  }
  const now = systemClock.now
  if (config.redisUrl === undefined) {
    const sharing = worker && connectCircuits(worker.calls, update => circuits.apply(update))
    const circuits = new Circuits({ now, sharing, onChange })
    return circuits
  }
  const sharing = openCircuitMessages({
    url: config.redisUrl,
    newId,
    apply: update => circuits.apply(update),
    onException: exceptions.note,
  })
  closers.push(() => sharing.close())
  const circuits = new Circuits({ now, sharing, onChange })
  return circuits
}

function toStored(circuit: Circuit, isOpening: boolean, retryAt: number): StoredCircuit {
  const { credentialId, provider, model, isOpen, failureRate, openedAt, usedAt } = circuit
  const expiresAt = usedAt + IDLE_MS
  return {
    credentialId,
    provider,
    model,
    isOpen,
    isOpening,
    failureRate,
    openedAt,
    retryAt,
    expiresAt,
  }
}
