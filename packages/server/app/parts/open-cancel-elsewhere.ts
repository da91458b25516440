import type { GatewayDeps } from '../../gateway/deps.ts'
import type { RunningRequests } from '../../gateway/request/running-requests.ts'
import { openCancellations } from '../../redis/cancellations.ts'
import { connectCancellations } from '../../workers/messages/cancellations.ts'
import type { AppParts } from './app-parts.ts'

/** Returns the cancel of requests in other gateway processes: those of REDIS_URL, or the other workers of the machine. */
export function openCancelElsewhere(
  { config, log, exceptions, closers, newId, worker }: AppParts,
  runningRequests: RunningRequests,
): GatewayDeps['cancelElsewhere'] {
  const cancelLocal = (environmentId: string, requestId: string, endUserId: string | null): boolean =>
    runningRequests.cancel(environmentId, requestId, endUserId)
  const logLine = (line: string): void => log.warn(line)
  if (config.redisUrl === undefined) {
    return worker === undefined
      ? () => Promise.resolve(false)
      : connectCancellations(worker.calls, { cancelLocal, log: logLine })
  }
  const cancellations = openCancellations({
    url: config.redisUrl,
    cancelLocal,
    newId,
    log: logLine,
    onException: exceptions.note,
  })
  closers.push(() => cancellations.close())
  return (environmentId, requestId, endUserId) => cancellations.cancel(environmentId, requestId, endUserId)
}
