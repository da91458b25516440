import { readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { JOURNAL } from './records.ts'
import { isWorkerRunning } from './worker-folder.ts'

/** Longer than a worker lives on without its supervisor (run-worker.ts). */
const PATIENCE_MS = 10_000
const POLL_MS = 20

/**
 * Waits until the gateway workers of a killed supervisor have ended: they may still have the port, idempotency keys and
 * records that are not stored. Returns whether there were any that left a journal. One that has hung is left alone.
 */
export async function whenPreviousWorkersEnded(dataDir: string, log: Pick<Logger, 'warn'>): Promise<boolean> {
  const folders = listFolders(path.join(dataDir, JOURNAL))
  const endsAt = performance.now() + PATIENCE_MS
  while (folders.some(isWorkerRunning)) {
    if (performance.now() > endsAt) {
      const workers = folders.filter(isWorkerRunning)
      log.warn({ workers }, 'gateway workers of a killed supervisor do not end; kill them')
      break
    }
    await sleep(POLL_MS)
  }
  return folders.length > 0
}

function listFolders(journal: string): string[] {
  try {
    return readdirSync(journal, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
