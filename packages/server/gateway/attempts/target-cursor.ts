import type { Admission, Circuit } from '../../core/attempts/circuit.ts'
import type { Rest } from '../../core/attempts/credential-rest.ts'
import type { FailureEvidence } from '../../core/attempts/failure-evidence.ts'
import { MAX_REFUSED_CREDENTIALS } from '../../core/attempts/retry.ts'
import { affinityOf } from '../../core/models/affinity.ts'
import { orderByWeight } from '../../core/models/order-targets.ts'
import { orderByRendezvous } from '../../core/models/rendezvous.ts'
import { randomShare } from '../../core/random-share.ts'
import type { Credential } from '../../core/tenancy/tenancy.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { ResolvedTarget, TargetSelection } from '../targets/target-selection.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { AdmittedAs, Circuits } from './circuits.ts'

/** A choice that is passed over, because it may not be called now. */
interface BlockedCandidate {
  readonly targetAt: number
  readonly credentialAt: number
  readonly credential: Credential
  readonly why: Exclude<Admission, 'admitted'>
  /** Until when, in Unix milliseconds. */
  readonly until: number
}

/** The most choices that a request's record names as passed over. */
const MAX_SKIPS_RECORDED = 8
const NONE: readonly never[] = []

/**
 * The current target and credential of a request, and what comes next. Passes over credentials whose circuit is open and
 * those that rest. If nothing else is left, it chooses the one of them that is due first.
 */
export class TargetCursor<P extends ResolvedTarget> {
  readonly #ctx: IdentifiedContext
  readonly #deps: AttemptDeps
  readonly #selection: TargetSelection<P>
  /** undefined: the calls say nothing about the targets, and no circuit matters to them. */
  readonly #circuits: Circuits | undefined
  #targetAt = 0
  #credentials: readonly Credential[] = []
  /** The target whose credentials those are. */
  #orderedAt = -1
  #share: number | undefined
  #credentialAt = 0
  #as: AdmittedAs = 'admitted'
  #wasForced = false
  /** The failures of a request at one credential count once, however often it retries. */
  #isFailureNoted = false
  /** Credentials of the current target that were passed over, and come before the current one. */
  #passed: readonly BlockedCandidate[] = NONE
  /** Attempts of the request; at the current target; at targets without `max_retries`, those forgiven left out. */
  attempts = 0
  #attemptsHere = 0
  sharedAttempts = 0
  #forgiven = 0

  constructor(
    ctx: IdentifiedContext,
    selection: TargetSelection<P>,
    circuits: Circuits | undefined,
    deps: AttemptDeps,
  ) {
    this.#ctx = ctx
    this.#selection = selection
    this.#circuits = circuits
    this.#deps = deps
  }

  get target(): P {
    return this.#selection.targets[this.#targetAt] as P
  }

  get credential(): Credential {
    return this.#credentials[this.#credentialAt] as Credential
  }

  /** Further attempts at this target before the next. undefined: it has no `max_retries`. */
  get retriesLeft(): number | undefined {
    const maxRetries = this.target.alias?.maxRetries
    return maxRetries == null ? undefined : maxRetries + 1 - this.#attemptsHere
  }

  /**
   * Whether a target without `max_retries` may be retried. The sandbox always answers the same, and of several choices that
   * all are blocked one is called once.
   */
  get mayRepeat(): boolean {
    return this.target.provider.sandbox !== true && !(this.#wasForced && this.#selection.targets.length > 1)
  }

  get isOpen(): boolean {
    return this.#findCircuit()?.isOpen === true
  }

  /** Whether another credential of this target may be called. */
  get hasCredential(): boolean {
    for (let at = this.#credentialAt + 1; at < this.#credentials.length; at++) {
      if (this.#isCallable(this.#credentials[at] as Credential, this.target)) return true
    }
    return false
  }

  /** Whether a later target may be called. */
  get hasTarget(): boolean {
    const { targets } = this.#selection
    for (let at = this.#targetAt + 1; at < targets.length; at++) {
      const target = targets[at] as P
      if (target.credentials.some(credential => this.#isCallable(credential, target))) return true
    }
    return false
  }

  /** Whether there is another choice at all. Each request calls at most one that is blocked. */
  get hasLastResort(): boolean {
    return this.hasLastTarget || (!this.#wasForced && this.hasLaterCredential)
  }

  get hasLastTarget(): boolean {
    return !this.#wasForced && this.#targetAt + 1 < this.#selection.targets.length
  }

  get hasLaterCredential(): boolean {
    return this.#credentialAt + 1 < this.#credentials.length
  }

  /** Whether a credential of this target that was passed over may be called after all. */
  get mayReturn(): boolean {
    return !this.#wasForced && this.#passed.length > 0 && this.retriesLeft !== 0
  }

  /** Chooses the first target. A promise only if other processes must be asked. */
  start(): Promise<void> | undefined {
    return this.#choose(0, 0, undefined)
  }

  /** Goes on to the next credential or target, to the next target, or to a credential of this target that was passed over. */
  advance(to: 'other' | 'target' | 'passed'): Promise<void> | undefined {
    if (to === 'passed') return this.#returnToPassed()
    return to === 'other'
      ? this.#choose(this.#targetAt, this.#credentialAt + 1, undefined)
      : this.#choose(this.#targetAt + 1, 0, undefined)
  }

  /** Stays for another attempt. */
  repeat(): void {
    this.#as = this.isOpen ? 'forced' : 'admitted'
  }

  countAttempt(): void {
    this.attempts++
    this.#attemptsHere++
    if (this.target.alias?.maxRetries == null) this.sharedAttempts++
  }

  /** Stays for an attempt that counts as one with the last, except among all of the request. */
  repeatAdjusted(): void {
    this.repeat()
    this.#attemptsHere--
    if (this.target.alias?.maxRetries == null) this.sharedAttempts--
  }

  /** Does not count the last attempt among those at targets without `max_retries`. */
  forgive(): void {
    if (this.#forgiven === MAX_REFUSED_CREDENTIALS) return
    this.#forgiven++
    this.sharedAttempts--
  }

  noteSuccess(): void {
    this.#circuits?.noteSuccess(this.#ctx, this.credential, this.target.model, this.#as)
  }

  noteFailure(evidence: FailureEvidence): void {
    const counted = this.#isFailureNoted ? 'none' : evidence
    if (evidence !== 'none') this.#isFailureNoted = true
    this.#circuits?.noteFailure(this.#ctx, this.credential, this.target.model, this.#as, counted)
  }

  noteRest(rest: Rest): void {
    this.#circuits?.rest(this.#ctx, this.credential, this.target.model, rest)
  }

  #findCircuit(): Circuit | undefined {
    return this.#circuits?.find(this.credential.id, this.target.model)
  }

  #isCallable({ id, updatedAt }: Credential, { model }: P): boolean {
    const circuit = this.#circuits?.find(id, model)
    if (circuit === undefined || this.#circuits === undefined) return true
    const admission = circuit.admission(this.#circuits.now, updatedAt)
    return admission === 'admitted' || admission === 'probe'
  }

  /** Moves to the first choice from here on that may be called. */
  #choose(
    targetAt: number,
    credentialAt: number,
    before: BlockedCandidate[] | undefined,
  ): Promise<void> | undefined {
    const { targets } = this.#selection
    let passed = before
    const circuits = this.#circuits
    for (let target = targetAt; target < targets.length; target++) {
      const { model } = targets[target] as P
      const credentials = this.#orderCredentials(target)
      for (let at = target === targetAt ? credentialAt : 0; at < credentials.length; at++) {
        const credential = credentials[at] as Credential
        const circuit = circuits?.find(credential.id, model)
        if (circuit === undefined || circuits === undefined) return this.#take(target, at, 'admitted', passed)
        const why = circuit.admission(circuits.now, credential.updatedAt)
        if (why === 'admitted') return this.#take(target, at, 'admitted', passed)
        const blocked = { targetAt: target, credentialAt: at, credential, why, until: circuit.blockedUntil() }
        if (why === 'probe') {
          const claim = circuits.claimProbe(circuit)
          if (claim === true) return this.#take(target, at, 'probe', passed)
          if (claim !== false) return this.#await(claim, blocked, passed)
        }
        passed ??= []
        passed.push(blocked)
      }
    }
    this.#force(passed)
    return undefined
  }

  async #await(
    claim: Promise<boolean>,
    blocked: BlockedCandidate,
    passed: BlockedCandidate[] = [],
  ): Promise<void> {
    const { targetAt, credentialAt } = blocked
    if (await claim) return this.#take(targetAt, credentialAt, 'probe', passed)
    passed.push(blocked)
    await this.#choose(targetAt, credentialAt + 1, passed)
  }

  /** Chooses what is due first, since everything is blocked. */
  #force(passed: readonly BlockedCandidate[] = []): void {
    const [first] = passed.toSorted((a, b) => a.until - b.until)
    if (first === undefined) throw new Error('a request went on without another target')
    this.#wasForced = true
    this.#take(
      first.targetAt,
      first.credentialAt,
      'forced',
      passed.filter(candidate => candidate !== first),
    )
  }

  /** Chooses what is due first, as the last credential of its target: the others were called. */
  #returnToPassed(): undefined {
    const [{ credential }] = this.#passed.toSorted((a, b) => a.until - b.until) as [BlockedCandidate]
    this.#credentials = [...this.#credentials.filter(other => other !== credential), credential]
    this.#wasForced = true
    this.#take(this.#targetAt, this.#credentials.length - 1, 'forced')
  }

  #take(
    targetAt: number,
    credentialAt: number,
    as: AdmittedAs,
    passed?: readonly BlockedCandidate[],
  ): undefined {
    this.#orderCredentials(targetAt)
    if (targetAt !== this.#targetAt) {
      this.#attemptsHere = 0
      this.#passed = NONE
    }
    this.#targetAt = targetAt
    this.#credentialAt = credentialAt
    this.#as = as
    this.#isFailureNoted = false
    if (passed === undefined) return
    const here = passed.filter(
      skipped => skipped.targetAt === targetAt && skipped.credentialAt < credentialAt,
    )
    if (here.length > 0) this.#passed = [...this.#passed, ...here]
    this.#recordSkips(passed)
  }

  #recordSkips(passed: readonly BlockedCandidate[]): void {
    const ctx = this.#ctx
    for (const { targetAt, credential, why } of passed) {
      if (this.#circuits !== undefined) this.#circuits.skips++
      if (ctx.skippedAttempts >= MAX_SKIPS_RECORDED) continue
      ctx.skippedAttempts++
      const { provider, model } = this.#selection.targets[targetAt] as P
      const error = why === 'resting' ? 'credential_resting' : 'circuit_open'
      ctx.attempts.push({
        provider: provider.id,
        model,
        credential_id: credential.id,
        status: null,
        error,
        ms: 0,
      })
    }
  }

  /**
   * Returns the credentials of a target in the order to attempt them: a conversation's by rendezvous hashing, so that its
   * prompt stays cached; of anything else drawn by the weights.
   */
  #orderCredentials(targetAt: number): readonly Credential[] {
    if (this.#orderedAt === targetAt) return this.#credentials
    const { credentials } = this.#selection.targets[targetAt] as P
    this.#orderedAt = targetAt
    this.#credentials = credentials
    if (credentials.length === 1) return credentials
    // Drawn once, so that a target has the same order when it is returned to.
    this.#share ??= randomShare(this.#deps.random)
    const affinity = affinityOf(this.#ctx.endUser?.id, this.#selection.parsed?.request.messages)
    this.#credentials =
      affinity === undefined
        ? orderByWeight(credentials, this.#share)
        : orderByRendezvous(credentials, affinity)
    return this.#credentials
  }
}
