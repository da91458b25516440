import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../core/clock.ts'
import { urlBySettings, urlOf } from '../../http/head/listen.ts'
import type { ProcessMetrics } from '../../http/metrics/merged-metrics.ts'
import type { Reading } from '../../http/metrics/metrics.ts'
import type { OpenedLedger } from '../../ledger/failover/open-ledger.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import {
  type ConfigNotifications,
  openConfigNotifications,
} from '../../storage/changes/config-notifications.ts'
import { removeOwners } from '../../storage/idempotency/idempotent-answers.ts'
import { openSharedPort, type SharedPort } from '../../workers/processes/shared-port.ts'
import { WorkerPool } from '../../workers/processes/worker-pool.ts'
import { type WorkerEnd, WorkerProcess } from '../../workers/processes/worker-process.ts'
import { acquireLock } from '../parts/acquire-lock.ts'
import type { AppParts } from '../parts/app-parts.ts'
import type { Gateway } from '../parts/gateway.ts'
import { listProcessReadings, listStoreReadings, openMetrics } from '../parts/metrics.ts'
import { openGatewayLedger } from '../parts/open-gateway-ledger.ts'
import { whenPreviousWorkersEnded } from '../parts/previous-workers.ts'
import { settleAll } from '../parts/records.ts'
import { openSupervisorLink, type SupervisorLink } from './supervisor-link.ts'
import { WorkerJournals } from './worker-journals.ts'

/** The socket's folder within the data folder. */
const CHANNEL = 'workers'
/** The kernel closes the port of a killed process a little after its end shows. */
const PORT_PATIENCE_MS = 2_000

/** What the workers share, in this process. */
interface SupervisorParts {
  readonly journals: WorkerJournals
  readonly counting: OpenedLedger
  readonly link: SupervisorLink
}

/**
 * Opens the gateway as worker processes, of which this one is the supervisor (docs/decisions/0044-worker-processes.md): it
 * binds the port, counts the limits and has what all of them share.
 */
export async function openWorkers(parts: AppParts): Promise<Gateway> {
  const { config, log, exceptions, storage, closers } = parts
  closers.push(await acquireLock(parts))
  // What they have is taken over, and they need the port no more.
  const hadWorkers = await whenPreviousWorkersEnded(config.dataDir, log)
  const port = await openSharedPort(config.host, config.gatewayPort, hadWorkers ? PORT_PATIENCE_MS : 0)
  closers.push(() => port.close())
  if (config.redisUrl === undefined) await removeOwners(storage.pool)
  const ends = new Set<Promise<void>>()
  closers.push(async () => void (await Promise.all(ends)))
  const supervised = await openSupervised(parts)
  const { link, counting } = supervised
  const announcements = await openAnnouncements(parts, link)
  const pool = openPool(parts, supervised, port, ends)
  const metrics = await openMetrics({
    host: config.metricsHost,
    port: config.metricsPort,
    log,
    onException: exceptions.note,
    readings: [
      toWorkersReading(pool),
      ...listStoreReadings(supervised.journals.recordCounts),
      ...listProcessReadings(exceptions),
    ],
    merge: own => link.metrics.merge(own),
  })
  closers.push(() => metrics.close())
  return {
    async listen() {
      await pool.start()
      return urlOf(port.address)
    },
    metricsUrl: metrics.url,
    async catchUp() {
      // While changes are not announced, the workers know that they are not.
      await announcements.barrier().catch(() => {})
      await link.configChanges.barrier()
    },
    getReadiness: () => link.readiness.all(),
    readMeters: (meters, at) => counting.ledger.read(meters, at),
    close() {
      const stopped = pool.stop()
      // Else connections would wait, until the last request has ended, for workers that accept no more.
      port.close()
      return stopped
    },
    replaceWorkers: () => pool.replaceAll(),
  }
}

/** Opens the ledger of all workers, their journals and the socket by which they reach this process. */
async function openSupervised(parts: AppParts): Promise<SupervisorParts> {
  const { config, log, exceptions, closers } = parts
  // The seeds of the ledger need the workers' records, which come over the link, which serves the ledger.
  let flushWorkers = async (): Promise<ReadonlySet<string>> => new Set()
  let noteOpened: (ledger: Ledger) => void = () => {}
  const opened = new Promise<Ledger>(resolve => {
    noteOpened = resolve
  })
  const journals = new WorkerJournals(
    parts,
    async records => settleAll(await opened, records),
    () => flushWorkers(),
  )
  const counting = await openGatewayLedger(parts, journals, true)
  noteOpened(counting.ledger)
  const link = await openSupervisorLink({
    folder: path.join(config.dataDir, CHANNEL),
    ledger: counting.ledger,
    clock: systemClock,
    log: line => log.warn(line),
    onException: exceptions.note,
  })
  closers.push(() => link.close())
  flushWorkers = () => link.flushJournals()
  return { journals, counting, link }
}

/** Opens the pool of workers, which do not run yet. `ends` gets what is still to be done for those that have ended. */
function openPool(
  parts: AppParts,
  { journals, counting, link }: SupervisorParts,
  port: SharedPort,
  ends: Set<Promise<void>>,
): WorkerPool {
  const { config, log, exceptions, storage, closers } = parts
  const start = {
    socketPath: link.path,
    connection: storage.connection,
    gatewayUrl: config.gatewayUrl ?? urlBySettings(config.host, config.gatewayPort) ?? urlOf(port.address),
    baseUrl: config.baseUrl ?? urlBySettings(config.host, config.controlPort) ?? '',
  }
  const end = async (worker: WorkerProcess, { isOrderly, metrics }: WorkerEnd): Promise<void> => {
    link.metrics.noteEnded(worker.name, metrics as ProcessMetrics | undefined)
    await journals.noteEnded(worker)
    counting.expireOwner(worker.name)
    if (!isOrderly) await removeOwners(storage.pool, worker.name)
  }
  const pool = new WorkerPool({
    size: config.workers,
    fork() {
      // All sources are one file when the program runs.
      const worker = new WorkerProcess({ file: fileURLToPath(import.meta.url), port: port.handle, start })
      journals.noteStarted(worker)
      return worker
    },
    onEnded(worker, exit) {
      const ending = end(worker, exit)
        .catch(error => exceptions.note(error, 'the end of a gateway worker'))
        .finally(() => ends.delete(ending))
      ends.add(ending)
    },
    log,
  })
  // An end by force leaves no worker behind.
  const kill = (): void => {
    for (const worker of pool.running) worker.kill()
  }
  process.on('exit', kill)
  parts.cut.addEventListener('abort', () => pool.cut())
  closers.push(async () => {
    await pool.stop()
    await pool.whenEnded()
    process.off('exit', kill)
  })
  return pool
}

/** Passes the changes of the configuration on to the workers. */
async function openAnnouncements(
  { storage, log, closers }: AppParts,
  { configChanges }: SupervisorLink,
): Promise<ConfigNotifications> {
  const announcements = await openConfigNotifications({
    connection: storage.connection,
    log: line => log.warn(line),
    onChange: id => configChanges.publish(id),
    onLost: () => configChanges.setSubscribed(false),
    onRestored: () => configChanges.setSubscribed(true),
  })
  closers.push(() => announcements.close())
  return announcements
}

function toWorkersReading(pool: WorkerPool): Reading {
  const read = (): number => pool.running.size
  return { name: 'rideau_workers', help: 'Gateway worker processes that run.', kind: 'gauge', read }
}
