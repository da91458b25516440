import { FairCache } from '../../core/admission/fair-cache.ts'
import { Circuit, type CircuitName, PROBE_LEASE_MS, type Transition } from '../../core/attempts/circuit.ts'
import type { CircuitSharing, CircuitUpdate } from '../../core/attempts/circuit-sharing.ts'
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
/** The credentials whose circuits are looked at for idle ones whenever a circuit is created. A constant, so that no creation takes long. */
const LOOKS = 8
export const MAX_CIRCUITS = 20_000
/** A use counts as one in the order of uses if the last one is at least as long ago. */
const USE_MS = 1_000
/** A caller may name any model of some providers, so that one credential must not fill the table. */
export const MAX_MODELS = 64

/** Why an attempt may be made: its circuit is closed, it is the probe, or there is nothing else to attempt. */
export type AdmittedAs = 'admitted' | 'probe' | 'forced'

/** Whose request a call was: a request context. */
export interface CircuitUser {
  readonly environment: { readonly orgId: string }
  /** undefined: of nobody in particular. */
  readonly endUser: { readonly id: string } | undefined
}

/**
 * The circuits of this process, by credential and model. A credential belongs to one environment. Where there is no room for more, the
 * organization with the most loses the one that it used least recently, so that none takes a circuit from one that has fewer.
 */
export class Circuits {
  readonly #options: CircuitsOptions
  readonly #byCredential = new Map<string, Map<string, Circuit>>()
  /** The same circuits, shared among organizations. */
  readonly #shares = new FairCache<Circuit>(MAX_CIRCUITS, (_, circuit) => this.#forget(circuit))
  /** Where the search for idle circuits goes on. */
  #sweep = this.#byCredential.values()
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

  noteSuccess(user: CircuitUser, credential: Credential, model: string, as: AdmittedAs): void {
    const circuit = this.#findOrCreate(user.environment.orgId, credential, model)
    if (circuit === undefined) return
    this.#note(circuit, circuit.noteSuccess(this.now, as === 'admitted', user.endUser?.id), as)
  }

  noteFailure(
    user: CircuitUser,
    credential: Credential,
    model: string,
    as: AdmittedAs,
    evidence: FailureEvidence,
  ): void {
    if (evidence === 'none') {
      const known = as === 'probe' ? this.find(credential.id, model) : undefined
      if (known !== undefined) this.releaseProbe(known)
      return
    }
    const circuit = this.#findOrCreate(user.environment.orgId, credential, model)
    if (circuit === undefined) return
    const source = evidence === 'doubtful' ? user.endUser?.id : undefined
    this.#note(circuit, circuit.noteFailure(this.now, source, as === 'probe'), as)
  }

  /** Lets a credential rest that its provider limits or refuses. */
  rest(user: CircuitUser, credential: Credential, model: string, { ms, isDoubtful }: Rest): void {
    const circuit = this.#findOrCreate(user.environment.orgId, credential, model)
    if (circuit === undefined || (isDoubtful && !circuit.confirmsRefusal(user.endUser?.id))) return
    const { updatedAt } = credential
    const restMs = circuit.rest(this.now, ms, updatedAt)
    this.#options.sharing?.publish({ ...toName(circuit), change: 'rest', restMs, updatedAt })
  }

  /** Applies what another process announced. */
  apply(update: CircuitUpdate): void {
    const { orgId, credentialId, provider, model } = update
    if (update.change === 'close') return this.find(credentialId, model)?.close(this.now)
    const circuit = this.#findOrCreate(orgId, { id: credentialId, provider }, model)
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

  /** Returns undefined while the credential has as many open circuits as it may have: its calls are then made as if there were none. */
  #findOrCreate(
    orgId: string,
    { id, provider }: Pick<Credential, 'id' | 'provider'>,
    model: string,
  ): Circuit | undefined {
    const known = this.find(id, model)
    if (known === undefined) return this.#create({ orgId, credentialId: id, provider, model })
    if (Math.abs(this.now - known.usedAt) >= USE_MS) this.#shares.use(orgId, toKey(known))
    return known
  }

  #create(name: CircuitName): Circuit | undefined {
    this.#forgetIdle()
    const models = this.#byCredential.get(name.credentialId)
    if (models !== undefined && models.size >= MAX_MODELS && !this.#dropOldestClosed(models)) return undefined
    const circuit = new Circuit(name, this.now)
    if (models === undefined) this.#byCredential.set(name.credentialId, new Map([[name.model, circuit]]))
    else models.set(name.model, circuit)
    this.#shares.set(name.orgId, toKey(name), circuit)
    return circuit
  }

  #dropOldestClosed(models: Map<string, Circuit>): boolean {
    let oldest: Circuit | undefined
    for (const circuit of models.values()) {
      if (!circuit.isOpen && (oldest === undefined || circuit.usedAt < oldest.usedAt)) oldest = circuit
    }
    if (oldest === undefined) return false
    models.delete(oldest.model)
    this.#shares.delete(toKey(oldest))
    return true
  }

  #forgetIdle(): void {
    const { now } = this
    for (let look = 0; look < LOOKS; look++) {
      const { done, value } = this.#sweep.next()
      if (done === true) {
        this.#sweep = this.#byCredential.values()
        return
      }
      for (const circuit of value.values()) {
        if (now - circuit.usedAt < IDLE_MS) continue
        this.#shares.delete(toKey(circuit))
        this.#forget(circuit)
      }
    }
  }

  #forget({ credentialId, model }: Circuit): void {
    const models = this.#byCredential.get(credentialId)
    models?.delete(model)
    if (models?.size === 0) this.#byCredential.delete(credentialId)
  }
}

function toKey({ credentialId, model }: CircuitName): string {
  return `${credentialId} ${model}`
}

function toName({ orgId, credentialId, provider, model }: Circuit): CircuitName {
  return { orgId, credentialId, provider, model }
}
