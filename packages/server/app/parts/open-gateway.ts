import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { isProviderHost } from '@rideau/llm/providers/provider-hosts'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { FETCH_TIMES } from '../../gateway/attempts/fetch-times.ts'
import { ProviderCounts } from '../../gateway/attempts/provider-counts.ts'
import type { GatewayDeps } from '../../gateway/deps.ts'
import { FanOutRates } from '../../gateway/edge/fan-out-rates.ts'
import { RequestCounts } from '../../gateway/edge/request-counts.ts'
import { LearnedUse } from '../../gateway/limits/learned-use.ts'
import { MeterSets } from '../../gateway/limits/meter-sets.ts'
import { Reservations } from '../../gateway/limits/reservations.ts'
import { RunningRequests } from '../../gateway/request/running-requests.ts'
import { openTicker } from '../../gateway/request/ticker.ts'
import { Latencies } from '../../gateway/targets/latencies.ts'
import { LastUsed } from '../../gateway/tenants/last-used.ts'
import { AccessTokens } from '../../gateway/upstream/access-tokens.ts'
import { openHttpTransport } from '../../gateway/upstream/http-transport.ts'
import { openSandboxTransport } from '../../gateway/upstream/sandbox-transport.ts'
import { openCallerEgress } from '../../http/egress/open-egress.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { updateKeysLastUsed } from '../../storage/keys/keys.ts'
import {
  CREDENTIAL_EXHAUSTED,
  CREDENTIAL_REJECTED,
  markCredentialRejected,
} from '../../storage/models/credential-validation.ts'
import { openTracing, type Tracing } from '../../tracing/open-tracing.ts'
import { handleFlush } from '../../workers/messages/journals.ts'
import { acquireLock } from './acquire-lock.ts'
import type { AppParts } from './app-parts.ts'
import { DatabaseSlots } from './database-slots.ts'
import type { LocalGateway } from './gateway.ts'
import { openReadiness, readinessOf } from './gateway-readiness.ts'
import { openCancelElsewhere } from './open-cancel-elsewhere.ts'
import { openCircuits } from './open-circuits.ts'
import { openFrontDoor } from './open-front-door.ts'
import { openGatewayLedger } from './open-gateway-ledger.ts'
import { openGatewayServer } from './open-gateway-server.ts'
import { openIdempotency } from './open-idempotency.ts'
import { openMint } from './open-mint.ts'
import { openSigningKeys } from './open-signing-keys.ts'
import { catchUp, openSnapshots } from './open-snapshots.ts'
import { whenPreviousWorkersEnded } from './previous-workers.ts'
import { openRecentRequests } from './recent-requests.ts'
import { openRecords, type Records } from './records.ts'
import { RejectedCredentials } from './rejected-credentials.ts'
import { toWorkerFolder } from './worker-folder.ts'

/** Addresses that callers name are never private: the setting is for those of the operator. */
const PUBLIC_ONLY = { allowPrivate: false }

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
  const counting = worker?.counting ?? (await openGatewayLedger(parts, records.stored))
  openFor(counting.ledger)
  const slots = new DatabaseSlots(storage.pool)
  const rejections = openRejections(parts)
  const getReadiness = openReadiness(parts, () => readinessOf(snapshots, counting, drain, config))
  if (worker !== undefined) handleFlush(worker.calls, () => drain.flush())
  const deps: GatewayDeps = {
    formats: new FormatRegistry(overrides.formats ?? FORMATS),
    now: systemClock.now,
    random: systemRandom,
    newId,
    log,
    onException,
    snapshots,
    ...(await openMint(parts, signingKeys)),
    ticker,
    runningRequests,
    requestCounts,
    cancelElsewhere,
    fanOutRates: new FanOutRates(),
    latencies: new Latencies(systemClock.now),
    circuits: openCircuits(parts),
    providerCounts: new ProviderCounts(),
    lastUsed: openLastUsed(parts),
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
    ...(await openGatewayServer(parts, deps, { records, counting, tracing })),
    runningRequests,
    catchUp: () => catchUp(announcements, snapshots),
    getReadiness,
    readMeters,
  }
}

/** Opens the traces of this process; undefined: they are off. */
async function openTraces({ config, log, newId, closers }: AppParts): Promise<Tracing | undefined> {
  if (config.tracing === undefined) return undefined
  const tracing = await openTracing(config.tracing, { instanceId: newId(), log })
  closers.push(() => tracing.close())
  return tracing
}

function openLastUsed({ storage, log, exceptions, closers }: AppParts): LastUsed {
  const store = (uses: ReadonlyMap<string, number>): Promise<void> => updateKeysLastUsed(storage.db, uses)
  const lastUsed = new LastUsed({ store, log, onException: exceptions.note })
  closers.push(() => lastUsed.close())
  return lastUsed
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
    isTrustedHost: isProviderHost,
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

function openReservations({ closers, exceptions }: AppParts, ledger: Ledger): Reservations {
  const reservations = new Reservations({ ledger, now: systemClock.now, onException: exceptions.note })
  closers.push(() => reservations.close())
  return reservations
}
