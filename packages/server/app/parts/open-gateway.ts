import type { Server } from 'node:http'
import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { FETCH_TIMES } from '../../gateway/attempts/fetch-times.ts'
import { ProviderCounts } from '../../gateway/attempts/provider-counts.ts'
import type { GatewayDeps } from '../../gateway/deps.ts'
import { FanOutRates } from '../../gateway/edge/fan-out-rates.ts'
import { type BucketKind, FrontDoor } from '../../gateway/edge/front-door.ts'
import { RequestCounts } from '../../gateway/edge/request-counts.ts'
import { LearnedUse } from '../../gateway/limits/learned-use.ts'
import { MeterSets } from '../../gateway/limits/meter-sets.ts'
import { Reservations } from '../../gateway/limits/reservations.ts'
import { RunningRequests } from '../../gateway/request/running-requests.ts'
import { openTicker, type Ticker } from '../../gateway/request/ticker.ts'
import { createGatewayServer } from '../../gateway/server.ts'
import { Latencies } from '../../gateway/targets/latencies.ts'
import { LastUsed } from '../../gateway/tenants/last-used.ts'
import type { Snapshots } from '../../gateway/tenants/snapshots.ts'
import { AccessTokens } from '../../gateway/upstream/access-tokens.ts'
import { openHttpTransport } from '../../gateway/upstream/http-transport.ts'
import { openSandboxTransport } from '../../gateway/upstream/sandbox-transport.ts'
import { openCallerEgress } from '../../http/egress/open-egress.ts'
import { listen } from '../../http/head/listen.ts'
import { createRegistry, type Reading } from '../../http/metrics/metrics.ts'
import type { Readiness } from '../../http/metrics/readiness.ts'
import type { Drain } from '../../journal/drain.ts'
import { openJournalId } from '../../journal/journal-id.ts'
import type { OpenedLedger } from '../../ledger/failover/open-ledger.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { openCancellations } from '../../redis/cancellations.ts'
import { acquireInstanceLock } from '../../storage/instance-lock.ts'
import { updateKeysLastUsed } from '../../storage/keys/keys.ts'
import {
  CREDENTIAL_EXHAUSTED,
  CREDENTIAL_REJECTED,
  markCredentialRejected,
} from '../../storage/models/credential-validation.ts'
import { openTracing, type Tracing } from '../../tracing/open-tracing.ts'
import { connectCancellations } from '../../workers/messages/cancellations.ts'
import { connectHoldings } from '../../workers/messages/holdings.ts'
import { handleFlush } from '../../workers/messages/journals.ts'
import { connectMetrics } from '../../workers/messages/metrics.ts'
import { connectRates } from '../../workers/messages/rates.ts'
import { connectReadiness } from '../../workers/messages/readiness.ts'
import { closeGateway, type StopCounts } from '../process/close-server.ts'
import type { Config } from '../settings/settings.ts'
import type { AppParts } from './app-parts.ts'
import { DatabaseSlots } from './database-slots.ts'
import { openAlerts } from './jobs.ts'
import { openProcessLedger } from './ledger.ts'
import { listReadings, type MetricsSources, openMetrics } from './metrics.ts'
import { openCircuits } from './open-circuits.ts'
import { openConnectionLimits } from './open-connection-limits.ts'
import { openIdempotency } from './open-idempotency.ts'
import { openMint } from './open-mint.ts'
import { openSigningKeys } from './open-signing-keys.ts'
import { catchUp, openSnapshots } from './open-snapshots.ts'
import { whenPreviousWorkersEnded } from './previous-workers.ts'
import { openRecentRequests } from './recent-requests.ts'
import { openRecords, type RecordBarrier, type Records } from './records.ts'
import { RejectedCredentials } from './rejected-credentials.ts'
import { toWorkerFolder } from './worker-folder.ts'

/** Addresses that callers name are never private: the setting is for those of the operator. */
const PUBLIC_ONLY = { allowPrivate: false }

/** The gateway of this process, or of its workers. */
export interface Gateway {
  /** Starts to accept connections, and returns the URL. */
  listen(): Promise<string>
  readonly metricsUrl: string | undefined
  /** Resolves once every change committed so far applies in this process. */
  catchUp(): Promise<void>
  getReadiness(): Readiness
  readonly readMeters: Ledger['read']
  /** Gives running requests time to end, then stops them and closes their connections. */
  close(): Promise<StopCounts>
  /** See App; absent: it runs in this process. */
  readonly replaceWorkers?: () => Promise<void>
}

/** The gateway within this process, which does not listen yet. */
export interface LocalGateway extends Gateway {
  readonly server: Server
  readonly runningRequests: RunningRequests
  /** Returns what a worker has measured, as JSON. */
  readMetrics(): Promise<unknown>
}

/** Creates the gateway and the parts of the process that it depends on. */
export async function openGateway(parts: AppParts): Promise<LocalGateway> {
  const { config, log, overrides, exceptions, storage, closers, egress, newId, baseUrl, gatewayUrl } = parts
  const { worker } = parts
  const onException = exceptions.note
  // The supervisor of workers has the lock.
  if (worker === undefined) {
    closers.push(await acquireLock(parts))
    await whenPreviousWorkersEnded(config.dataDir, log)
  }
  const signingKeys = openSigningKeys(parts)
  const { snapshots, announcements } = await openSnapshots(parts, signingKeys)
  closers.push(() => announcements.close())
  const records = openGatewayRecords(parts)
  const { drain, openFor } = records
  const tracing = await openTraces(parts)
  const transports = openTransports(parts)
  const ticker = openTicker()
  closers.push(() => ticker.close())
  const runningRequests = new RunningRequests()
  const requestCounts = new RequestCounts()
  const frontDoor = openFrontDoor(parts, ticker)
  const cancelElsewhere = openCancelElsewhere(parts, runningRequests)
  const lastUsed = new LastUsed({ store: uses => updateKeysLastUsed(storage.db, uses), log, onException })
  closers.push(() => lastUsed.close())
  const counting = worker?.counting ?? (await openGatewayLedger(parts, records.stored))
  openFor(counting.ledger)
  const slots = new DatabaseSlots(storage.pool)
  const rejections = openRejections(parts)
  const getReadiness = openReadiness(parts, () => readinessOf(snapshots, counting, drain, config))
  if (worker !== undefined) handleFlush(worker.calls, () => drain.afterFlush(async () => {}))
  const deps: GatewayDeps = {
    formats: new FormatRegistry(overrides.formats ?? FORMATS),
    now: systemClock.now,
    random: systemRandom,
    newId,
    log,
    onException,
    snapshots,
    signingKeys,
    ...(await openMint(parts, signingKeys)),
    ticker,
    runningRequests,
    requestCounts,
    cancelElsewhere,
    fanOutRates: new FanOutRates(),
    latencies: new Latencies(systemClock.now),
    circuits: openCircuits(parts),
    providerCounts: new ProviderCounts(),
    lastUsed,
    idempotency: await openIdempotency(parts, slots),
    frontDoor,
    tracer: tracing?.tracer,
    ...transports,
    callerEgress: openCallerEgress(overrides.callerEgress ?? PUBLIC_ONLY),
    fetchTimes: overrides.fetchTimes ?? FETCH_TIMES,
    accessTokens: new AccessTokens({ policy: egress, now: systemClock.now, onException }),
    meterSets: new MeterSets(),
    reservations: openReservations(parts, counting.ledger),
    learned: new LearnedUse(),
    isLedgerShared: worker !== undefined || config.redisUrl !== undefined,
    openRecord: estimate => drain.open(estimate),
    writeRecord: record => drain.write(record),
    isJournalFull: () => (config.journalFull === 'refuse' ? drain.isFull() : drain.isMemoryFull()),
    isJournalFullFor: orgId => config.journalFull === 'refuse' && drain.isFullFor(orgId),
    ...openRecentRequests(parts, drain, slots),
    onCredentialRejected: (credential, reason) => rejections.note(credential, reason),
    baseUrl,
    gatewayUrl,
    prefixes: config.prefixes,
    bodyTimeoutMs: overrides.bodyTimeoutMs,
    getReadiness,
  }
  overrides.onDeps?.(deps)
  const readMeters: Ledger['read'] = (meters, at) => counting.ledger.read(meters, at)
  return {
    ...(await openServer(parts, deps, { records, counting, tracing })),
    runningRequests,
    catchUp: () => catchUp(announcements, snapshots),
    getReadiness,
    readMeters,
  }
}

/** Opens the server of the gateway, which does not listen yet, and its metrics. */
async function openServer(
  parts: AppParts,
  deps: GatewayDeps & { readonly frontDoor: FrontDoor },
  measured: Pick<MetricsSources, 'counting' | 'tracing'> & { readonly records: Records },
): Promise<Pick<LocalGateway, 'server' | 'listen' | 'close' | 'metricsUrl' | 'readMetrics'>> {
  const { config, overrides, exceptions, sockets } = parts
  const { sendTimeouts } = sockets
  const { runningRequests } = deps
  const server = createGatewayServer(deps)
  sendTimeouts.watch(server)
  const connections = openConnectionLimits(config, 'gateway')
  connections.guard(server)
  if (parts.worker !== undefined) {
    const { requests, bytes, answers } = deps.frontDoor.process
    const shared = connectHoldings(
      parts.worker.calls,
      [requests, bytes, answers, connections.all],
      exceptions.note,
    )
    parts.closers.push(() => shared.close())
  }
  const readings = listReadings({ ...deps, ...measured, connections, exceptions, sendTimeouts })
  const onError = (error: Error): void => exceptions.note(error, 'the listener of the gateway')
  return {
    ...(await startMetrics(parts, readings)),
    server,
    listen: () => listen(server, config.host, config.gatewayPort, onError),
    close: () => closeGateway(server, runningRequests, { graceMs: overrides.graceMs, cut: parts.cut }),
  }
}

/** Opens the traces of this process; undefined: they are off. */
async function openTraces({ config, log, newId, closers }: AppParts): Promise<Tracing | undefined> {
  if (config.tracing === undefined) return undefined
  const tracing = await openTracing(config.tracing, { instanceId: newId(), log })
  closers.push(() => tracing.close())
  return tracing
}

/** Opens the transports to providers and to the sandbox. */
function openTransports({
  egress,
  sockets,
  exceptions,
  closers,
}: AppParts): Pick<GatewayDeps, 'http' | 'sandbox'> {
  const http = openHttpTransport(egress, {
    maxConnections: sockets.maxUpstream,
    onException: exceptions.note,
  })
  const sandbox = openSandboxTransport()
  closers.push(
    () => http.close(),
    () => sandbox.close(),
  )
  return { http, sandbox }
}

function openRejections({ storage, log, newId }: AppParts): RejectedCredentials {
  const events = { clock: systemClock, newId }
  return new RejectedCredentials(
    (credential, reason) =>
      markCredentialRejected(
        storage.db,
        credential,
        reason === 'auth' ? CREDENTIAL_REJECTED : CREDENTIAL_EXHAUSTED,
        events,
      ),
    systemClock.now,
    error => log.error({ err: error }, 'a refused credential could not be marked'),
  )
}

function openFrontDoor({ config, log, worker }: AppParts, ticker: Ticker): FrontDoor {
  const { frontDoor: limits, trustedProxies } = config
  const sharing =
    worker &&
    connectRates<BucketKind>(worker.calls, (kind, key, count) =>
      frontDoor.takeReported(kind, key, count, performance.now()),
    )
  const frontDoor = new FrontDoor({ limits, trustedProxies, ticker, log, sharing })
  return frontDoor
}

/** Starts the metrics and returns their URL. Those of a worker are served by its supervisor. */
async function startMetrics(
  { config, log, exceptions, closers, worker }: AppParts,
  readings: readonly Reading[],
): Promise<{ readonly metricsUrl: string | undefined; readonly readMetrics: () => Promise<unknown> }> {
  const registry = createRegistry(readings)
  const readMetrics = (): Promise<unknown> => registry.getMetricsAsJSON()
  if (worker !== undefined) {
    connectMetrics(worker.calls, readMetrics)
    return { metricsUrl: undefined, readMetrics }
  }
  const { metricsHost: host, metricsPort: port } = config
  const metrics = await openMetrics({ host, port, log, onException: exceptions.note, readings })
  closers.push(() => metrics.close())
  return { metricsUrl: metrics.url, readMetrics }
}

/** Opens the journal and the drain that writes its records to the database. A worker has a journal of its own. */
function openGatewayRecords({ config, log, storage, exceptions, closers, worker }: AppParts): Records {
  return openRecords({
    dataDir: config.dataDir,
    ...(worker === undefined ? {} : { workerFolder: toWorkerFolder(process.pid, worker.worker) }),
    now: systemClock.now,
    maxBytes: Math.ceil(config.journalMaxBytes / config.workers),
    isShared: worker === undefined && config.redisUrl !== undefined,
    log,
    storage,
    onException: exceptions.note,
    closers,
  })
}

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

/** Opens the ledger, and the alerts that it raises. `stored`: waits for records that must be in the database before either reads it. */
export async function openGatewayLedger(
  { config, log, exceptions, storage, closers, newId }: AppParts,
  stored: RecordBarrier,
  hasWorkers = false,
): Promise<OpenedLedger> {
  // Closed after the ledger, which may report crossings until it is closed.
  const alerts = openAlerts({ storage, log }, newId, () => stored.flush())
  closers.push(() => alerts.close())
  const counting = await openProcessLedger({
    redisUrl: config.redisUrl,
    isFailOpen: config.limitsFailOpen,
    hasWorkers,
    log,
    owner: newId(),
    storage,
    stored,
    onException: exceptions.note,
    onCrossing: ({ meter, settled }) => {
      if (meter.kind === 'fixed') alerts.note({ meter, settled })
    },
  })
  closers.push(() => counting.ledger.close())
  return counting
}

function openReservations({ closers, exceptions }: AppParts, ledger: Ledger): Reservations {
  const reservations = new Reservations({ ledger, now: systemClock.now, onException: exceptions.note })
  closers.push(() => reservations.close())
  return reservations
}

/** Returns readiness and its reasons. Lost shared counting is a reason, but with `limitsFailOpen` the process stays ready. */
function readinessOf(
  snapshots: Snapshots,
  { ledger }: OpenedLedger,
  drain: Drain,
  config: Config,
): Readiness {
  const { isHealthy, reasons } = ledger.health()
  const isLost = snapshots.isLost()
  const isFull = drain.isFull()
  const isRefusing = isFull && (config.journalFull === 'refuse' || drain.isMemoryFull())
  return {
    ready: !isLost && (isHealthy || config.limitsFailOpen) && !isRefusing,
    reasons: [
      ...(isLost ? ['the database does not announce changes'] : []),
      ...(isFull
        ? ['the journal is full or cannot be written: usage records do not reach the database']
        : []),
      ...reasons,
    ],
  }
}

/** Returns the readiness of this process, or of all workers together. */
function openReadiness({ worker, exceptions, closers }: AppParts, own: () => Readiness): () => Readiness {
  if (worker === undefined) return own
  const shared = connectReadiness(worker.calls, own, exceptions.note)
  closers.push(() => shared.close())
  return shared.all
}

/** Returns the cancel of requests in other gateway processes: those of REDIS_URL, or the other workers of the machine. */
function openCancelElsewhere(
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
