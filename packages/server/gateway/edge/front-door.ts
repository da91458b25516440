import type { IncomingMessage } from 'node:http'
import { ProvenCredentials } from '../../core/access/proven-credentials.ts'
import {
  AdmissionScope,
  type ChildInit,
  type ShareFactors,
  takeRequest,
} from '../../core/admission/admission-scope.ts'
import { BoundedTable } from '../../core/admission/bounded-table.ts'
import { openCapacity } from '../../core/admission/fair-share.ts'
import { RefusalCounter } from '../../core/admission/refusal-counter.ts'
import { noteTaken } from '../../core/admission/shared-bucket.ts'
import { type BucketRate, debitTokens } from '../../core/admission/token-bucket.ts'
import { TokenBuckets } from '../../core/admission/token-buckets.ts'
import { Fault } from '../../core/fault.ts'
import type { Log } from '../../core/log.ts'
import { UnreadAnswers } from '../../http/fairness/unread-answers.ts'
import { type TrustedProxies, toAddressGroup, toClientAddress } from '../../http/head/client-address.ts'
import { Permit, type PermitIssuer } from '../request/permit.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Ticker } from '../request/ticker.ts'
import type { AdmissionKeys } from '../tenants/admission-keys.ts'
import type { Tenant } from '../tenants/snapshots.ts'
import { RefusalDelay } from './refusal-delay.ts'

export interface FrontDoorLimits {
  /** Requests of one secret key; also of all client tokens together that one key minted. */
  readonly keyRate: BucketRate
  /** Requests of one end user with client tokens. */
  readonly endUserRate: BucketRate
  /** Requests from one client address without a credential that is known. */
  readonly addressRate: BucketRate
  /** Requests that may be open at once in this process. */
  readonly openRequests: number
  /** Bytes of request bodies that may be in memory at once in this process. */
  readonly bodyBytes: number
  /** Bytes of answers that may arrive from providers or wait to be read by their callers in this process. */
  readonly answerBytes: number
}

export interface FrontDoorOptions {
  readonly limits: FrontDoorLimits
  readonly trustedProxies: TrustedProxies
  readonly ticker: Ticker
  readonly log: Pick<Log, 'warn'>
  /** Absent: no other process of the machine serves the same callers. */
  readonly sharing?: RateSharing | undefined
}

/** Whose bucket it is: that of an address, or that of a key or an end user. */
export type BucketKind = 'address' | 'credential'

/** The front doors of the other gateway workers. */
export interface RateSharing {
  /** Reports requests that were counted here. */
  publish(kind: BucketKind, key: string, count: number): void
}

/** Organizations, environments, keys and end users that are counted at one time, in about 30 MB. */
const MAX_SCOPES = 50_000
/** Reports about keys and end users that this process has not seen yet, and how long they count together. */
const MAX_REPORTED = 10_000
const REPORTED_MS = 10_000
/** What a caller that has nothing open may hold of the bytes of bodies, if there is room at all. */
const MIN_BODY_BYTES = 64 * 1024
/** What a caller that has nothing open may hold of answers: more than most answers have. */
const MIN_ANSWER_BYTES = 4 * 1024 * 1024

const ORGANIZATION: ShareFactors = { requests: 3, bytes: 3, answers: 3 }
const ENVIRONMENT: ShareFactors = { requests: 2, bytes: 2, answers: 2 }
const CREDENTIAL: ShareFactors = { requests: 2, bytes: 2, answers: 2 }
/** An end user that is alone still gets a tenth of the open requests, and two bodies of 32 MiB by default. */
const END_USER: ShareFactors = { requests: 1 / 8, bytes: 1 / 2, answers: 1 / 2 }
/** Backends may name one end user for much of what they do. */
const NAMED_END_USER: ShareFactors = { requests: 1, bytes: 1, answers: 1 }

/**
 * What every request passes right after its credential is known and before its body is read: a token bucket per
 * credential, one per client address for credentials that are not known, and a fair share of the requests and bodies
 * that this process can have open. A refusal costs no look-up, no record and no line of the log.
 */
export class FrontDoor implements PermitIssuer {
  readonly refusals: RefusalCounter
  readonly unread: UnreadAnswers
  readonly proven = new ProvenCredentials()
  readonly refusalDelay = new RefusalDelay()
  /** Everything that is open in this process. */
  readonly process: AdmissionScope
  readonly ticker: Ticker
  readonly #limits: FrontDoorLimits
  readonly #trustedProxies: TrustedProxies
  readonly #addresses: TokenBuckets
  readonly #scopes = new BoundedTable<AdmissionScope>(MAX_SCOPES)
  readonly #sharing: RateSharing | undefined
  /** Requests at other processes of keys and end users without a scope here, by their keys. */
  readonly #reported = new Map<string, { readonly count: number; readonly at: number }>()

  constructor({ limits, trustedProxies, ticker, log, sharing }: FrontDoorOptions) {
    this.#sharing = sharing
    this.#limits = limits
    this.#trustedProxies = trustedProxies
    this.ticker = ticker
    this.refusals = new RefusalCounter(log)
    this.unread = new UnreadAnswers(log)
    this.#addresses = new TokenBuckets(limits.addressRate)
    this.process = new AdmissionScope({
      key: '',
      logName: '',
      parent: undefined,
      rate: undefined,
      requests: openCapacity(limits.openRequests, 1),
      bytes: openCapacity(limits.bodyBytes, MIN_BODY_BYTES),
      answers: openCapacity(limits.answerBytes, MIN_ANSWER_BYTES),
    })
  }

  /**
   * Counts a request from an address before its credential is looked up or verified, and one without a credential or
   * route. Throws 429 `rate_limit_exceeded`. Returns the address, for `refund`.
   */
  countUnknown(ctx: RequestContext): string {
    const address = this.addressOf(ctx.req)
    const waitMs = this.#addresses.take(address, ctx.startedAt)
    if (waitMs === 0) {
      if (this.#sharing !== undefined) {
        const count = this.#addresses.noteTaken(address)
        if (count > 0) this.#sharing.publish('address', address, count)
      }
      return address
    }
    this.refusals.count('address_rate', address, ctx.startedAt)
    throw this.#tooMany('This address sends too many requests without a known credential.', waitMs)
  }

  /** Takes back the count of a request whose credential is valid. Many end users may share one address. */
  refund(address: string): void {
    this.#addresses.refund(address)
  }

  /**
   * Counts a request of a known credential. Throws 429 `rate_limit_exceeded`. It is counted before anything can refuse
   * it, so that refused requests count too.
   */
  countKnown(ctx: RequestContext, { admissionKeys, caller }: Tenant): AdmissionScope {
    // Any user can read a publishable key out of an app, so it does not tell who calls.
    if (caller.kind === 'publishable') this.countUnknown(ctx)
    const now = ctx.startedAt
    const { endUser, credential } = admissionKeys
    const scope = this.#scopes.find(endUser ?? credential) ?? this.#openScope(admissionKeys, now)
    const waitMs = takeRequest(scope, now)
    if (waitMs === 0) {
      if (this.#sharing !== undefined) publishTaken(scope, this.#sharing)
      return scope
    }
    this.refusals.count(endUser === undefined ? 'key_rate' : 'end_user_rate', credential, now)
    throw this.#tooMany('This credential sends too many requests.', waitMs)
  }

  /** Counts requests that another worker of the machine has counted. `now`: by this process's clock of requests. */
  takeReported(kind: BucketKind, key: string, count: number, now: number): void {
    if (kind === 'address') return this.#addresses.takeReported(key, count, now)
    const scope = this.#scopes.find(key)
    if (scope?.rate !== undefined) return debitTokens(scope, scope.rate, count, now)
    const earlier = this.#reported.get(key)
    const sum = earlier !== undefined && now - earlier.at < REPORTED_MS ? earlier.count + count : count
    if (this.#reported.size >= MAX_REPORTED) this.#reported.clear()
    this.#reported.set(key, { count: sum, at: now })
  }

  /** Gives a request its permit to be open. Throws 429 `concurrency_limit_exceeded`. */
  enter(ctx: RequestContext, scope: AdmissionScope): void {
    ctx.permit = Permit.open(ctx, scope, this)
  }

  /** Returns the scope of an end user that a secret key named. Without a free entry in the table it is the key's. */
  openNamed(credential: AdmissionScope, id: string, now: number): AdmissionScope {
    const key = `${credential.key}:${id}`
    const init = { key, logName: credential.logName, rate: undefined, factors: NAMED_END_USER }
    return this.#openChild(credential, init, now)
  }

  #tooMany(message: string, waitMs: number): Fault {
    const fault = new Fault('rate_limit_exceeded', message, { retryAfterSeconds: waitMs / 1000 })
    this.refusalDelay.mark(fault)
    return fault
  }

  /** Returns the key under which the client of a request is counted: its address, or the /64 of an IPv6 address. */
  addressOf(req: IncomingMessage): string {
    const forwarded = req.headers['x-forwarded-for']
    const header = typeof forwarded === 'string' ? forwarded : undefined
    return toAddressGroup(toClientAddress(req.socket.remoteAddress, header, this.#trustedProxies))
  }

  #openScope({ org, environment, credential, endUser }: AdmissionKeys, now: number): AdmissionScope {
    const { keyRate, endUserRate } = this.#limits
    const ofOrg = this.#openChild(this.process, toInit(org, undefined, ORGANIZATION), now)
    const ofEnvironment = this.#openChild(ofOrg, toInit(environment, undefined, ENVIRONMENT), now)
    const ofCredential = this.#openChild(ofEnvironment, toInit(credential, keyRate, CREDENTIAL), now)
    if (endUser === undefined) return ofCredential
    const init = { key: endUser, logName: credential, rate: endUserRate, factors: END_USER }
    return this.#openChild(ofCredential, init, now)
  }

  /** Returns the child. If the table has no room for it, it is counted as its parent. */
  #openChild(parent: AdmissionScope, init: ChildInit, now: number): AdmissionScope {
    const known = this.#scopes.find(init.key)
    if (known !== undefined) return known
    const child = parent.openChild(init)
    const reported = this.#reported.get(init.key)
    if (reported !== undefined && init.rate !== undefined) {
      this.#reported.delete(init.key)
      debitTokens(child, init.rate, reported.count, reported.at)
    }
    if (this.#scopes.add(child, now)) return child
    child.leaveParent()
    return parent
  }
}

/** Reports the requests of a scope and of those above it. */
function publishTaken(scope: AdmissionScope, sharing: RateSharing): void {
  for (let current: AdmissionScope | undefined = scope; current !== undefined; current = current.parent) {
    if (current.rate === undefined) continue
    const count = noteTaken(current, current.rate)
    if (count > 0) sharing.publish('credential', current.key, count)
  }
}

function toInit(key: string, rate: BucketRate | undefined, factors: ShareFactors): ChildInit {
  return { key, logName: key, rate, factors }
}
