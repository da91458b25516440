import type { Server } from 'node:http'
import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { systemClock } from '../core/clock.ts'
import { systemRandom } from '../core/random.ts'
import { FETCH_TIMES } from '../gateway/attempts/fetch-times.ts'
import type { GatewayDeps } from '../gateway/deps.ts'
import { FrontDoor } from '../gateway/edge/front-door.ts'
import { RequestCounts } from '../gateway/edge/request-counts.ts'
import { LearnedUse } from '../gateway/limits/learned-use.ts'
import { MeterSets } from '../gateway/limits/meter-sets.ts'
import { Reservations } from '../gateway/limits/reservations.ts'
import { Latencies } from '../gateway/plan/latencies.ts'
import { InFlight } from '../gateway/request/in-flight.ts'
import { openTicker, type Ticker } from '../gateway/request/ticker.ts'
import { createGatewayServer } from '../gateway/server.ts'
import { LastUsed } from '../gateway/tenants/last-used.ts'
import type { Snapshots } from '../gateway/tenants/snapshots.ts'
import { AccessTokens } from '../gateway/upstream/access-tokens.ts'
import { openHttpTransport } from '../gateway/upstream/http-transport.ts'
import { openSandboxTransport } from '../gateway/upstream/sandbox-transport.ts'
import { openCallerEgress } from '../http/open-egress.ts'
import type { Readiness } from '../http/readiness.ts'
import type { Drain } from '../journal/drain.ts'
import type { OpenedLedger } from '../ledger/failover/open-ledger.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openCancellations } from '../redis/cancellations.ts'
import { markCredentialRejected } from '../storage/credential-validation.ts'
import { acquireInstanceLock } from '../storage/instance-lock.ts'
import { updateKeysLastUsed } from '../storage/keys.ts'
import { isRequestLogged, updateFeedback } from '../storage/request-log-list.ts'
import type { AppParts } from './app-parts.ts'
import { askDatabase } from './ask-database.ts'
import { closeGateway, type StopCounts } from './close-server.ts'
import { openAlerts } from './jobs.ts'
import { openProcessLedger } from './ledger.ts'
import { type Measured, openMetrics } from './metrics.ts'
import { openCircuits } from './open-circuits.ts'
import { openConnectionLimits } from './open-connection-limits.ts'
import { openIdempotency } from './open-idempotency.ts'
import { openMint } from './open-mint.ts'
import { catchUp, openSnapshots } from './open-snapshots.ts'
import { openRecords, type Records } from './records.ts'
import type { Config } from './settings.ts'

/** Addresses that callers name are never private: the setting is for those of the operator. */
const PUBLIC_ONLY = { allowPrivate: false }

/** The gateway of this process, which does not listen yet. */
export interface Gateway {
  readonly server: Server
  readonly metricsUrl: string | undefined
  /** Resolves once every change committed so far applies in this process. */
  catchUp(): Promise<void>
  isReady(): Readiness
  readonly readMeters: Ledger['read']
  /** Gives running requests time to end, then stops them and closes their connections. */
  close(): Promise<StopCounts>
}

/** Creates the gateway and the parts of the process that it depends on. */
export async function openGateway(parts: AppParts): Promise<Gateway> {
  const { config, log, limits, exceptions, storage, closers, egress, newId, baseUrl, gatewayUrl, sockets } =
    parts
  const onException = exceptions.note
  closers.push(await acquireLock(parts))
  const { snapshots, announcements } = await openSnapshots(parts)
  closers.push(() => announcements.close())
  const records = openJournaled(parts)
  const { drain, openFor } = records
  closers.push(() => drain.close())
  const transports = openTransports(parts)
  const ticker = openTicker()
  closers.push(() => ticker.close())
  const inFlight = new InFlight()
  const requestCounts = new RequestCounts()
  const frontDoor = openFrontDoor(parts, ticker)
  const cancelElsewhere = openCancelElsewhere(parts, inFlight)
  const lastUsed = new LastUsed({ store: uses => updateKeysLastUsed(storage.db, uses), log, onException })
  closers.push(() => lastUsed.close())
  const counting = await openCounting(parts, drain)
  openFor(counting.ledger)
  const isReady = (): Readiness => readinessOf(snapshots, counting, drain, config)
  const deps: GatewayDeps = {
    formats: new FormatRegistry(limits.formats ?? FORMATS),
    now: systemClock.now,
    random: systemRandom,
    newId,
    log,
    onException,
    snapshots,
    ...(await openMint(parts)),
    ticker,
    inFlight,
    requestCounts,
    cancelElsewhere,
    latencies: new Latencies(systemClock.now),
    circuits: openCircuits(parts),
    lastUsed,
    idempotency: await openIdempotency(parts),
    frontDoor,
    ...transports,
    callerEgress: openCallerEgress(limits.callerEgress ?? PUBLIC_ONLY),
    fetchTimes: limits.fetchTimes ?? FETCH_TIMES,
    accessTokens: new AccessTokens({ policy: egress, now: systemClock.now, onException }),
    meterSets: new MeterSets(),
    reservations: openReservations(parts, counting.ledger),
    learned: new LearnedUse(),
    isLedgerShared: config.redisUrl !== undefined,
    openRecord: estimate => drain.open(estimate),
    writeRecord: record => drain.write(record),
    isJournalFull: () => (config.journalFull === 'refuse' ? drain.isFull() : drain.isMemoryFull()),
    isRequestLogged: (environmentId, requestId) => isRequestLogged(storage.db, environmentId, requestId),
    storeFeedback: openStoreFeedback(parts, drain),
    onCredentialRejected: id => markRejected(parts, id),
    baseUrl,
    gatewayUrl,
    prefixes: config.prefixes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    isReady,
  }
  limits.onDeps?.(deps)
  const server = createGatewayServer(deps)
  sockets.sendTimeouts.watch(server)
  const connections = openConnectionLimits(config, 'gateway')
  connections.guard(server)
  const measured = { requestCounts, inFlight, records, isReady, counting, frontDoor, connections }
  return {
    metricsUrl: await openMeasured(parts, {
      ...measured,
      circuits: deps.circuits,
      idempotency: deps.idempotency,
    }),
    server,
    catchUp: () => catchUp(announcements, snapshots),
    isReady,
    readMeters: (meters, at) => counting.ledger.read(meters, at),
    close: () => closeGateway(server, inFlight, { graceMs: limits.graceMs, cut: parts.cut }),
  }
}

/** Opens the ways to providers. */
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

function openStoreFeedback({ storage }: AppParts, drain: Drain): GatewayDeps['storeFeedback'] {
  const store: GatewayDeps['storeFeedback'] = async (of, feedback) => {
    if (await updateFeedback(storage.db, of, feedback)) return true
    // The record of a recent answer may not be in the database yet.
    await drain.flush()
    return await updateFeedback(storage.db, of, feedback)
  }
  return (of, feedback) => askDatabase(store(of, feedback))
}

function markRejected({ storage, log, newId }: AppParts, credentialId: string): void {
  markCredentialRejected(storage.db, credentialId, { clock: systemClock, newId }).catch(error =>
    log.error({ err: error }, 'a refused credential could not be marked'),
  )
}

function openFrontDoor({ config, log }: AppParts, ticker: Ticker): FrontDoor {
  const { frontDoor: limits, trustedProxies } = config
  return new FrontDoor({ limits, trustedProxies, ticker, log })
}

/** Starts the metrics and returns their URL. */
async function openMeasured(
  { config, log, exceptions, closers, sockets: { sendTimeouts } }: AppParts,
  measured: Omit<Measured, 'exceptions' | 'sendTimeouts'>,
): Promise<string | undefined> {
  const { metricsHost: host, metricsPort: port } = config
  const metrics = await openMetrics({ host, port, log, exceptions, sendTimeouts, ...measured })
  closers.push(() => metrics.close())
  return metrics.url
}

function openJournaled({ config, log, storage }: AppParts): Records {
  return openRecords({
    dataDir: config.dataDir,
    now: systemClock.now,
    maxBytes: config.journalMaxBytes,
    isShared: config.redisUrl !== undefined,
    log,
    storage,
  })
}

/** Acquires the lock of a process that is alone on its database, or that shares limits with others. */
async function acquireLock({ config, log, storage }: AppParts): Promise<() => Promise<void>> {
  return await acquireInstanceLock(storage.connection, {
    isShared: config.redisUrl !== undefined,
    onLost: error => {
      log.fatal(error.message)
      process.kill(process.pid, 'SIGTERM')
    },
  })
}

async function openCounting(
  { config, log, exceptions, storage, closers, newId }: AppParts,
  drain: Drain,
): Promise<OpenedLedger> {
  // Closed after the ledger, which may report crossings until it is closed.
  const alerts = openAlerts({ storage, log }, newId, () => drain.flush())
  closers.push(() => alerts.close())
  const counting = await openProcessLedger({
    redisUrl: config.redisUrl,
    isFailOpen: config.limitsFailOpen,
    log,
    owner: newId(),
    storage,
    drain,
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

/** Returns the cancel of requests in other gateway processes; without REDIS_URL there are none. */
function openCancelElsewhere(
  { config, log, exceptions, closers, newId }: AppParts,
  inFlight: InFlight,
): GatewayDeps['cancelElsewhere'] {
  if (config.redisUrl === undefined) return () => Promise.resolve(false)
  const cancellations = openCancellations({
    url: config.redisUrl,
    cancelLocal: (environmentId, requestId, endUserId) =>
      inFlight.cancel(environmentId, requestId, endUserId),
    newId,
    log: line => log.warn(line),
    onException: exceptions.note,
  })
  closers.push(() => cancellations.close())
  return (environmentId, requestId, endUserId) => cancellations.cancel(environmentId, requestId, endUserId)
}
