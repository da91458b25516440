import type { QueueRoom } from '../core/queue-room.ts'
import { type QueueBounds, QueueJob } from './queue-job.ts'

/** Credentials whose providers are asked at once. */
const BOUNDS: QueueBounds = { most: 48, ofOrganization: 8, everyMs: 30_000 }

interface ClaimedCredential {
  readonly id: string
  readonly org_id: string
  readonly provider: string
}

export interface ModelListsJobOptions<C extends ClaimedCredential> {
  /** Claims credentials whose provider's list of models is due. */
  readonly claim: (room: QueueRoom) => Promise<readonly C[]>
  /** Asks the provider and stores its list. `signal` is aborted when the job closes. */
  readonly refresh: (credential: C, signal: AbortSignal) => Promise<void>
  readonly log: { error(details: object, message: string): void }
  readonly everyMs?: number
}

export interface ModelListsJob {
  /** Cuts running requests and resolves when they have ended. */
  close(): Promise<void>
}

/**
 * Refreshes the lists of models that are due. A credential whose refresh throws is logged and due again when its claim has
 * expired.
 */
export function openModelListsJob<C extends ClaimedCredential>({
  claim,
  refresh,
  log,
  everyMs = BOUNDS.everyMs,
}: ModelListsJobOptions<C>): ModelListsJob {
  const closing = new AbortController()

  async function run(credential: C): Promise<void> {
    try {
      await refresh(credential, closing.signal)
    } catch (error) {
      const { id, provider } = credential
      log.error(
        { err: error, credential: id, provider },
        "a provider's list of models could not be refreshed",
      )
    }
  }

  function onError(error: unknown): void {
    log.error({ err: error }, "providers' lists of models could not be claimed; retrying in the next run")
  }

  const job = new QueueJob({ ...BOUNDS, everyMs, claim, run, onError })
  return {
    async close() {
      closing.abort()
      await job.close()
    },
  }
}
