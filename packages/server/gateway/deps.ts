import type { RouteDeps } from './routes/route-deps.ts'

/** What the data plane needs of the rest of the process: app/ makes it. Each folder names its own part. */
export interface GatewayDeps extends RouteDeps {
  /** No more requests are taken until records reach the database: there is no room to keep theirs. */
  readonly isJournalFull: () => boolean
  readonly isReady: () => { readonly ready: boolean; readonly reasons: readonly string[] }
}
