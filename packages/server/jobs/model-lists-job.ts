import { openPeriodicJob } from './periodic-job.ts'

/** Credentials whose providers are asked at once. A slow provider delays at most this many others. */
const BATCH_SIZE = 16
const EVERY_MS = 30_000

export interface ModelListsJobOptions<C extends { readonly id: string; readonly provider: string }> {
  /** Claims up to `limit` credentials whose provider's list of models is due. */
  readonly claim: (limit: number) => Promise<readonly C[]>
  /** Asks the provider and stores its list. `signal` is aborted when the job closes. */
  readonly refresh: (credential: C, signal: AbortSignal) => Promise<void>
  readonly log: { error(details: object, message: string): void }
  readonly everyMs?: number
}

export interface ModelListsJob {
  /** Cuts running requests and resolves when the current run has ended. */
  close(): Promise<void>
}

/**
 * Refreshes the lists of models that are due, at once and every 30 seconds. A credential whose refresh throws is logged and
 * due again when its claim has expired.
 */
export function openModelListsJob<C extends { readonly id: string; readonly provider: string }>({
  claim,
  refresh,
  log,
  everyMs = EVERY_MS,
}: ModelListsJobOptions<C>): ModelListsJob {
  const closing = new AbortController()

  async function refreshOne(credential: C): Promise<void> {
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

  async function run(): Promise<void> {
    try {
      while (!closing.signal.aborted) {
        const due = await claim(BATCH_SIZE)
        await Promise.all(due.map(refreshOne))
        if (due.length < BATCH_SIZE) return
      }
    } catch (error) {
      log.error({ err: error }, "providers' lists of models could not be claimed; retrying in the next run")
    }
  }

  const job = openPeriodicJob(run, everyMs)
  return {
    async close() {
      closing.abort()
      await job.close()
    },
  }
}
