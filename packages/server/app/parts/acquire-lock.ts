import { openJournalId } from '../../journal/journal-id.ts'
import { acquireInstanceLock } from '../../storage/instance-lock.ts'
import type { AppParts } from './app-parts.ts'

/** Acquires the lock of a process that is alone on its database, or that shares limits with others, and has its own journal. */
export async function acquireLock({ config, log, storage }: AppParts): Promise<() => Promise<void>> {
  return await acquireInstanceLock(storage.connection, {
    isShared: config.redisUrl !== undefined,
    journalId: openJournalId(config.dataDir),
    onLost: error => {
      log.fatal(error.message)
      process.kill(process.pid, 'SIGTERM')
    },
  })
}
