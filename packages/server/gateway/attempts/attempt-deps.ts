import type { Log } from '../../core/log.ts'
import type { Credential } from '../../core/tenancy/tenancy.ts'
import type { EgressPolicy } from '../../http/egress/egress.ts'
import type { SelectionDeps } from '../targets/selection-deps.ts'
import type { AccessTokens } from '../upstream/access-tokens.ts'
import type { Transport } from '../upstream/transport.ts'
import type { Circuits } from './circuits.ts'
import type { FetchTimes } from './fetch-times.ts'
import type { ProviderCounts } from './provider-counts.ts'

/** What calling providers needs of the process. */
export interface AttemptDeps extends SelectionDeps {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Log
  readonly http: Transport
  readonly sandbox: Transport
  readonly accessTokens: AccessTokens
  /** For addresses that a caller names. It allows no private address, whatever the settings say. */
  readonly callerEgress: EgressPolicy
  readonly fetchTimes: FetchTimes
  readonly circuits: Circuits
  readonly providerCounts: ProviderCounts
  /** Called when a provider rejects a stored credential, or the quota or credit of its account is used up. */
  readonly onCredentialRejected: (credential: Credential, reason: 'auth' | 'quota') => void
}
