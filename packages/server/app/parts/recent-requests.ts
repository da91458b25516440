import { systemClock } from '../../core/clock.ts'
import { ClaimedIds } from '../../core/records/claimed-ids.ts'
import type { GatewayDeps } from '../../gateway/deps.ts'
import { GroupedQueries } from '../../http/fairness/grouped-queries.ts'
import type { Drain } from '../../journal/drain.ts'
import {
  areRequestsLogged,
  type RequestName,
  updateFeedback,
} from '../../storage/records/request-log-list.ts'
import { flushOthers } from '../../workers/messages/journals.ts'
import { connectRequestIds } from '../../workers/messages/request-ids.ts'
import { PacedWork } from '../process/paced-work.ts'
import type { AppParts } from './app-parts.ts'
import { askDatabase } from './ask-database.ts'
import type { DatabaseSlots } from './database-slots.ts'

/** The shortest time between two writes of what the journals of all workers hold. */
const FLUSH_INTERVAL_MS = 100

/** Ids that one statement looks for. */
const MAX_IDS = 500

/** Returns what needs requests whose records may not be in the database yet, of this process or another worker. */
export function openRecentRequests(
  { storage, worker }: AppParts,
  drain: Pick<Drain, 'flush'>,
  slots: DatabaseSlots,
): Pick<GatewayDeps, 'isRequestIdTaken' | 'storeFeedback'> {
  const ids = new ClaimedIds()
  const logged = new GroupedQueries<RequestName, boolean>({
    maxSize: MAX_IDS,
    run: names => areRequestsLogged(storage.pool, names),
  })
  const claim =
    worker === undefined
      ? async (environmentId: string, id: string) => ids.claim(environmentId, id)
      : connectRequestIds(worker.calls)
  const flush = new PacedWork(
    async () => {
      await Promise.all([drain.flush(), worker === undefined ? undefined : flushOthers(worker.calls)])
    },
    FLUSH_INTERVAL_MS,
    systemClock,
  )
  const store: GatewayDeps['storeFeedback'] = async (of, feedback, beforeFlush) => {
    const update = (): Promise<boolean> => slots.run(of, () => updateFeedback(storage.db, of, feedback))
    if (await update()) return true
    beforeFlush()
    await flush.run()
    return await update()
  }
  return {
    async isRequestIdTaken(environmentId, id) {
      const [isClaimed, isLogged] = await Promise.all([
        claim(environmentId, id),
        logged.query({ environmentId, requestId: id }),
      ])
      return !isClaimed || isLogged
    },
    storeFeedback: (of, feedback, beforeFlush) => askDatabase(store(of, feedback, beforeFlush)),
  }
}
