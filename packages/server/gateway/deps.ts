import type { Random } from '../core/chance.ts'
import type { OnException } from '../core/on-exception.ts'
import type { Feedback, RequestRecord } from '../core/request-record.ts'
import type { EgressPolicy } from '../http/egress.ts'
import type { Latencies } from './attempts/latencies.ts'
import type { RequestCounts } from './edge/request-counts.ts'
import type { Admissions } from './limits/admission.ts'
import type { LearnedUse } from './limits/learned-use.ts'
import type { MeterSets } from './limits/meter-sets.ts'
import type { GatewayLog } from './log.ts'
import type { InFlight } from './request/in-flight.ts'
import type { Prefixes } from './request/prefixes.ts'
import type { Ticker } from './request/ticker.ts'
import type { LastUsed } from './tenants/last-used.ts'
import type { SigningKeys } from './tenants/signing-keys.ts'
import type { Snapshots } from './tenants/snapshots.ts'
import type { AccessTokens } from './upstream/access-tokens.ts'
import type { Transport } from './upstream/transport.ts'

/** What the data plane needs of the rest of the house; compose.ts makes it. */
export interface GatewayDeps {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly random: Random
  readonly newId: () => string
  readonly log: GatewayLog
  /** For what no caller waits for; what harms one request goes to that request's `fail`. */
  readonly onException: OnException
  readonly snapshots: Snapshots
  readonly signingKeys: SigningKeys
  readonly ticker: Ticker
  readonly inFlight: InFlight
  readonly requestCounts: RequestCounts
  /** Stops a request that runs in another gateway process; false where none does. */
  readonly cancelElsewhere: (
    environmentId: string,
    requestId: string,
    endUserId: string | null,
  ) => Promise<boolean>
  readonly latencies: Latencies
  readonly lastUsed: LastUsed
  readonly http: Transport
  readonly sandbox: Transport
  readonly accessTokens: AccessTokens
  /** For addresses that a caller names. */
  readonly egress: EgressPolicy
  readonly meterSets: MeterSets
  readonly admissions: Admissions
  readonly learned: LearnedUse
  /** Makes durable what a request counts as if this process is killed before it ends. */
  readonly openRecord: (estimate: RequestRecord) => void
  /** Others count with the same counters: what this process holds of them outlives it. */
  readonly isLedgerShared: boolean
  /** Resolves when the record is durable; never rejects. */
  readonly writeRecord: (record: RequestRecord) => Promise<void>
  /** No more requests are taken until records reach the database: there is no room to keep theirs. */
  readonly isJournalFull: () => boolean
  /** Was a request of this id logged in the environment? Asked only where a caller brings its own id. */
  readonly isRequestLogged: (environmentId: string, requestId: string) => Promise<boolean>
  /** Keeps it with the request's record; false where there is none that the caller may speak of. */
  readonly storeFeedback: (
    of: { readonly environmentId: string; readonly requestId: string; readonly endUserId: string | null },
    feedback: Feedback,
  ) => Promise<boolean>
  /** The provider refused the stored credential. */
  readonly onCredentialRejected: (credentialId: string) => void
  /** Where `doc_url` points: the control plane as callers reach it. */
  readonly baseUrl: () => string
  /** As callers reach this host: the issuer of client tokens. */
  readonly gatewayUrl: () => string
  readonly prefixes: Prefixes
  /** A body that has not arrived after this long ends in 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
  readonly isReady: () => { readonly ready: boolean; readonly reasons: readonly string[] }
}
