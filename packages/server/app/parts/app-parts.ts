import type { Format } from '@rideau/llm/formats/shared/format'
import type { Logger } from 'pino'
import type { SecretBox } from '../../core/access/secret-box.ts'
import type { FetchTimes } from '../../gateway/attempts/fetch-times.ts'
import type { GatewayDeps } from '../../gateway/deps.ts'
import type { EgressPolicy } from '../../http/egress/egress.ts'
import type { EgressOptions } from '../../http/egress/open-egress.ts'
import type { Storage } from '../../storage/open-storage.ts'
import type { Exceptions } from '../process/exceptions.ts'
import type { Sockets } from '../process/sockets.ts'
import type { Config } from '../settings/settings.ts'
import type { WorkerLink } from './worker-link.ts'

/** Settings that only tests change. Times in milliseconds. */
export interface AppOverrides {
  /** A body that has not arrived by then is answered with 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
  /** How long running requests may take to end when the app closes. */
  readonly graceMs: number
  /** Replaces the list of all formats. */
  readonly formats?: readonly Format[]
  /** Replaces the DNS servers of the system for names in the configuration. */
  readonly dnsServers?: readonly string[]
  /** Replaces what holds for addresses that callers name, so that a test can serve images itself. */
  readonly callerEgress?: EgressOptions
  /** Replaces how long an address that a caller names may take. */
  readonly fetchTimes?: FetchTimes
  /** Replaces the origin of Apple's DeviceCheck. */
  readonly deviceCheckOrigin?: string
  /** Called with the dependencies of the gateway. */
  readonly onDeps?: (deps: GatewayDeps) => void
}

export const DEFAULT_OVERRIDES: AppOverrides = { bodyTimeoutMs: 60_000, graceMs: 30_000 }

/** What the parts of a process share while they are created. */
export interface AppParts {
  readonly config: Config
  readonly log: Logger
  readonly overrides: AppOverrides
  readonly exceptions: Exceptions
  readonly sockets: Sockets
  readonly storage: Storage
  readonly secretBox: SecretBox
  /** For hosts that configuration names. */
  readonly egress: EgressPolicy
  /** Aborted: requests that still run are cut, because the app must close now. */
  readonly cut: AbortSignal
  readonly closers: (() => Promise<void> | void)[]
  readonly newId: () => string
  readonly baseUrl: () => string
  readonly gatewayUrl: () => string
  /** The link to the supervisor of a gateway worker; absent: this process is alone on its machine. */
  readonly worker?: WorkerLink
}
