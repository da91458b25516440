import { Circuit, PROBE_LEASE_MS, type Transition } from '../../core/attempts/circuit.ts'
import type { CircuitName, CircuitSharing, CircuitUpdate } from '../../core/attempts/circuit-sharing.ts'
import type { Rest } from '../../core/attempts/credential-rest.ts'
import type { FailureEvidence } from '../../core/attempts/failure-evidence.ts'
import type { Credential } from '../../core/tenancy/tenancy.ts'

/** A circuit that opened, failed its probe or closed, for those who show it. */
export interface CircuitChange {
  readonly transition: 'opened' | 'reopened' | 'closed'
  readonly circuit: Circuit
}

export interface CircuitsOptions {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Absent: this process is alone. */
  readonly sharing?: CircuitSharing | undefined
  /** Called for changes that this process caused, not for those of others. Must not throw. */
  readonly onChange: (change: CircuitChange) => void
}

/** A circuit that was not used for this long is forgotten. */
export const IDLE_MS = 10 * 60_000
const SWEEP_MS = 60_000
export const MAX_CIRCUITS = 20_000
/** A caller may name any model of some providers, so that one credential must not fill the table. */
export const MAX_MODELS = 64

/** Why an attempt may be made: its circuit is closed, it is the probe, or there is nothing else to attempt. */
export type AdmittedAs = 'admitted' | 'probe' | 'forced'

/** The circuits of this process, by credential and model. A credential belongs to one environment. */
export class Circuits {
  readonly #options: CircuitsOptions
  readonly #byCredential = new Map<string, Map<string, Circuit>>()
  #size = 0
  #sweptAt = 0
  /** Since the start, by this process. */
  openings = 0
  skips = 0

  constructor(options: CircuitsOptions) {
    this.#options = options
  }

  get now(): number {
    return this.#options.now()
  }

  find(credentialId: string, model: string): Circuit | undefined {
    return this.#byCredential.get(credentialId)?.get(model)
  }

  /** Returns how many circuits are open. For metrics: reads all of them. */
  countOpen(): number {
    let open = 0
    for (const models of this.#byCredential.values()) {
      for (const circuit of models.values()) if (circuit.isOpen) open++
    }
    return open
  }

  /** Claims the probe of a circuit whose probe is due. A promise only if other processes must be asked. */
  claimProbe(circuit: Circuit): boolean | Promise<boolean> {
    const { sharing } = this.#options
    circuit.startProbe(this.now)
    if (sharing === undefined) return true
    return sharing.claimProbe(circuit, PROBE_LEASE_MS)
  }

  /** Ends a probe that showed nothing, for example because its caller left. */
  releaseProbe(circuit: Circuit): void {
    circuit.releaseProbe()
    this.#options.sharing?.releaseProbe(circuit)
  }

  /** `endUserId`: whose request it was; undefined: of nobody in particular. */
  noteSuccess(credential: Credential, model: string, as: AdmittedAs, endUserId?: string): void {
    const circuit = this.#findOrCreate(credential, model)
    if (circuit === undefined) return
    this.#note(circuit, circuit.noteSuccess(this.now, as === 'admitted', endUserId), as)
  }

  /** `endUserId`: whose request it was; undefined: of nobody in particular. */
  noteFailure(
    credential: Credential,
    model: string,
    as: AdmittedAs,
    evidence: FailureEvidence,
    endUserId: string | undefined,
  ): void {
    const circuit =
      evidence === 'none' ? this.find(credential.id, model) : this.#findOrCreate(credential, model)
    if (circuit === undefined) return
    if (evidence === 'none') {
      if (as === 'probe') this.releaseProbe(circuit)
      return
    }
    const source = evidence === 'doubtful' ? endUserId : undefined
    this.#note(circuit, circuit.noteFailure(this.now, source, as === 'probe'), as)
  }

  /** Lets a credential rest that its provider limits or refuses. `endUserId`: see noteFailure. */
  rest(credential: Credential, model: string, { ms, isDoubtful }: Rest, endUserId: string | undefined): void {
    const circuit = this.#findOrCreate(credential, model)
    if (circuit === undefined || (isDoubtful && !circuit.confirmsRefusal(endUserId))) return
    const { updatedAt } = credential
    const restMs = circuit.rest(this.now, ms, updatedAt)
    this.#options.sharing?.publish({ ...toName(circuit), change: 'rest', restMs, updatedAt })
  }

  /** Applies what another process announced. */
  apply(update: CircuitUpdate): void {
    const { credentialId, provider, model } = update
    const known = this.find(credentialId, model)
    if (update.change === 'close') return known?.close(this.now)
    const circuit = known ?? this.#create(credentialId, provider, model)
    if (update.change === 'rest') circuit?.rest(this.now, update.restMs, update.updatedAt)
    else circuit?.openAs(this.now, update)
  }

  #note(circuit: Circuit, transition: Transition, as: AdmittedAs): void {
    if (transition !== undefined) {
      if (transition === 'opened') this.openings++
      this.#publish(circuit)
      this.#options.onChange({ transition, circuit })
    }
    if (as === 'probe') this.#options.sharing?.releaseProbe(circuit)
  }

  #publish(circuit: Circuit): void {
    const { sharing, now } = this.#options
    if (sharing === undefined) return
    if (!circuit.isOpen) return sharing.publish({ ...toName(circuit), change: 'close' })
    const [retryInMs, openForMs] = [circuit.retryAt - now(), now() - circuit.openedAt]
    const { failureRate } = circuit
    sharing.publish({ ...toName(circuit), change: 'open', retryInMs, openForMs, failureRate })
  }

  #findOrCreate({ id, provider }: Credential, model: string): Circuit | undefined {
    return this.find(id, model) ?? this.#create(id, provider, model)
  }

  /** Returns undefined while the table is full: calls are then made as if there were no circuits. */
  #create(credentialId: string, provider: string, model: string): Circuit | undefined {
    const { now } = this
    if (now - this.#sweptAt >= SWEEP_MS || now < this.#sweptAt) this.#sweep(now)
    const models = this.#byCredential.get(credentialId)
    if (models !== undefined && models.size >= MAX_MODELS && !this.#dropOldestClosed(models)) return undefined
    if (this.#size >= MAX_CIRCUITS) return undefined
    const circuit = new Circuit({ credentialId, provider, model }, now)
    if (models === undefined) this.#byCredential.set(credentialId, new Map([[model, circuit]]))
    else models.set(model, circuit)
    this.#size++
    return circuit
  }

  #dropOldestClosed(models: Map<string, Circuit>): boolean {
    let oldest: Circuit | undefined
    for (const circuit of models.values()) {
      if (!circuit.isOpen && (oldest === undefined || circuit.usedAt < oldest.usedAt)) oldest = circuit
    }
    if (oldest === undefined) return false
    models.delete(oldest.model)
    this.#size--
    return true
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [credentialId, models] of this.#byCredential) {
      for (const [model, { usedAt }] of models) {
        if (now - usedAt < IDLE_MS) continue
        models.delete(model)
        this.#size--
      }
      if (models.size === 0) this.#byCredential.delete(credentialId)
    }
  }
}

function toName({ credentialId, provider, model }: Circuit): CircuitName {
  return { credentialId, provider, model }
}
