import type { Readiness } from '../http/metrics/readiness.ts'
import type { RouteDeps } from './routes/route-deps.ts'

/** What the data plane needs of the rest of the process. Made by app/; each folder declares its own part. */
export interface GatewayDeps extends RouteDeps {
  /** True while no metered requests are served, because the journal has no room for their records. */
  readonly isJournalFull: () => boolean
  /** True while those of one organization are not served, because its records take its share of a nearly full journal. */
  readonly isJournalFullFor: (orgId: string) => boolean
  readonly getReadiness: () => Readiness
}
