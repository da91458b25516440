import type { Log } from '../../core/log.ts'
import type { EgressPolicy } from '../../http/egress.ts'
import type { PlanDeps } from '../plan/plan-deps.ts'
import type { AccessTokens } from '../upstream/access-tokens.ts'
import type { Transport } from '../upstream/transport.ts'

/** What calling providers needs of the process. */
export interface AttemptDeps extends PlanDeps {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Log
  readonly http: Transport
  readonly sandbox: Transport
  readonly accessTokens: AccessTokens
  /** Limits which addresses named by a caller may be fetched. */
  readonly egress: EgressPolicy
  /** Called when a provider rejects a stored credential. */
  readonly onCredentialRejected: (credentialId: string) => void
}
