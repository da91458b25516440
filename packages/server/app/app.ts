import { mkdirSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import type { Format } from '@rideau/llm/formats/shared/format'
import type { Logger } from 'pino'
import { type ControlDeps, createControlServer } from '../control/server.ts'
import { systemClock, systemRandom } from '../core/chance.ts'
import { openIds } from '../core/ids.ts'
import { openSecretBox, type SecretBox } from '../core/secret-box.ts'
import type { GatewayDeps } from '../gateway/deps.ts'
import { RequestCounts } from '../gateway/edge/request-counts.ts'
import { Admissions } from '../gateway/limits/admission.ts'
import { LearnedUse } from '../gateway/limits/learned-use.ts'
import { MeterSets } from '../gateway/limits/meter-sets.ts'
import { Latencies } from '../gateway/plan/latencies.ts'
import { InFlight } from '../gateway/request/in-flight.ts'
import { openTicker } from '../gateway/request/ticker.ts'
import { createGatewayServer } from '../gateway/server.ts'
import { LastUsed } from '../gateway/tenants/last-used.ts'
import { SigningKeys } from '../gateway/tenants/signing-keys.ts'
import { Snapshots } from '../gateway/tenants/snapshots.ts'
import { AccessTokens } from '../gateway/upstream/access-tokens.ts'
import { openHttpTransport } from '../gateway/upstream/http-transport.ts'
import { openSandboxTransport } from '../gateway/upstream/sandbox-transport.ts'
import { listen, urlBySettings, urlOf } from '../http/listen.ts'
import type { Drain } from '../journal/drain.ts'
import type { OpenedLedger } from '../ledger/failover/open-ledger.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openCancellations } from '../redis/cancellations.ts'
import { type ConfigNotifications, openConfigNotifications } from '../storage/config-notifications.ts'
import { markCredentialRejected } from '../storage/credential-validation.ts'
import { acquireInstanceLock } from '../storage/instance-lock.ts'
import { updateKeysLastUsed } from '../storage/keys.ts'
import { openFileSecretBox } from '../storage/master-key.ts'
import { openStorage, type Storage } from '../storage/open-storage.ts'
import { openDatabase, openPool } from '../storage/pool.ts'
import { isRequestLogged, updateFeedback } from '../storage/request-log-list.ts'
import { listSigningKeys } from '../storage/signing-keys.ts'
import { findEnvironmentSnapshot, findKeyByHash } from '../storage/snapshots.ts'
import { findTokenMinter, getEndUserSnapshot } from '../storage/token-snapshots.ts'
import { hasUsers } from '../storage/users.ts'
import { Exceptions } from './exceptions.ts'
import { openAlerts, openJobs } from './jobs.ts'
import { composeLedger } from './ledger.ts'
import { type Measured, openMetrics } from './metrics.ts'
import { openRecords, type Records } from './records.ts'
import type { Config } from './settings.ts'

/** Which planes this process runs. */
export interface Planes {
  readonly gateway: boolean
  readonly control: boolean
}

/** The running program. */
export interface House {
  /** As callers reach the planes; undefined for one that this process does not run. */
  readonly gatewayUrl: string | undefined
  readonly controlUrl: string | undefined
  /** Where `/metrics` is; undefined also where its port was taken. */
  readonly metricsUrl: string | undefined
  /** Is there still nobody who could sign in? Then the set-up token opens the house. */
  readonly setupToken: string | undefined
  /** Refuses new requests, lets running ones end for a while, writes what is owed, then stops. */
  close(): Promise<void>
}

/** What tests shorten, in milliseconds, and what they look into. */
export interface Limits {
  /** A body that has not arrived after this long ends in 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
  /** How long running requests may take to end when the house closes. */
  readonly graceMs: number
  /** In place of every format that there is. */
  readonly formats?: readonly Format[]
  /** Is handed what the gateway works with. */
  readonly onDeps?: (deps: GatewayDeps) => void
}

export const LIMITS: Limits = { bodyTimeoutMs: 60_000, graceMs: 30_000 }

/** The only place that makes things. Throws where the house cannot stand; what was begun is taken down again. */
export async function openHouse(
  config: Config,
  planes: Planes,
  log: Logger,
  limits: Limits = LIMITS,
  exceptions: Exceptions = new Exceptions(log),
): Promise<House> {
  const closers: (() => Promise<void> | void)[] = []
  const closeAll = async (): Promise<void> => {
    for (const close of closers.reverse()) await close()
  }
  try {
    return await build(config, planes, log, limits, exceptions, closers, closeAll)
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function build(
  config: Config,
  planes: Planes,
  log: Logger,
  limits: Limits,
  exceptions: Exceptions,
  closers: (() => Promise<void> | void)[],
  closeAll: () => Promise<void>,
): Promise<House> {
  const say = (line: string): void => log.info(line)
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const storage = await openStorage({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log: say })
  closers.push(() => storage.close())
  const secretBox = openBox(config)
  const newId = openIds(systemClock, systemRandom)
  const egress = { allowPrivate: config.allowPrivateUpstreams }
  await openJobs({ storage, log, secretBox, newId, egress, closers })
  const setupToken = (await hasUsers(storage.db))
    ? undefined
    : (config.setupToken ?? systemRandom.bytes(18).toString('base64url'))
  const urls: { gateway?: string; control?: string } = {}
  const baseUrl = (): string =>
    config.baseUrl ?? urlBySettings(config.host, config.controlPort) ?? urls.control ?? ''
  const gatewayUrl = (): string =>
    config.gatewayUrl ?? urlBySettings(config.host, config.gatewayPort) ?? urls.gateway ?? ''
  const shared = {
    config,
    log,
    limits,
    exceptions,
    storage,
    secretBox,
    closers,
    newId,
    baseUrl,
    gatewayUrl,
  }

  const gateway = planes.gateway ? await openGateway(shared) : undefined
  if (gateway !== undefined) {
    const onError = (error: Error): void => exceptions.note(error, 'the listener of the gateway')
    urls.gateway = await listen(gateway.server, config.host, config.gatewayPort, onError)
    closers.push(() => gateway.close())
  }
  if (planes.control) {
    // Of its own, so that no call here, however slow, keeps the gateway waiting for a connection.
    const pool = openPool(storage.connection, say)
    closers.push(() => pool.end())
    const control = await createControlServer(
      {
        db: openDatabase(pool),
        secretBox,
        clock: systemClock,
        random: systemRandom,
        newId,
        log,
        onException: exceptions.note,
        egress,
        production: config.production,
        baseUrl,
        gatewayUrl,
        setupToken: () => setupToken,
        trustedProxies: config.trustedProxies,
        oidc: config.oidc,
        ...toControl(gateway),
      },
      limits,
    )
    await control.listen({ host: config.host, port: config.controlPort })
    control.server.on('error', error => exceptions.note(error, 'the listener of the control plane'))
    urls.control = urlOf(control.server.address() as AddressInfo)
    closers.push(() => control.close())
  }
  const { gateway: gatewayAt, control: controlUrl } = urls
  return { gatewayUrl: gatewayAt, controlUrl, metricsUrl: gateway?.metricsUrl, setupToken, close: closeAll }
}

/** What the control plane asks of the gateway beside it, where there is one. */
function toControl(gateway: Gateway | undefined): Pick<ControlDeps, 'afterWrite' | 'readMeters' | 'isReady'> {
  if (gateway !== undefined) {
    return { afterWrite: gateway.catchUp, readMeters: gateway.readMeters, isReady: gateway.isReady }
  }
  return {
    afterWrite: async () => {},
    readMeters: async () => undefined,
    isReady: () => ({ ready: true, reasons: [] }),
  }
}

function openBox({ masterKey, formerMasterKeys, dataDir }: Config): SecretBox {
  return masterKey === undefined
    ? openFileSecretBox(dataDir, systemRandom)
    : openSecretBox(masterKey, systemRandom, formerMasterKeys)
}

interface Shared {
  readonly config: Config
  readonly log: Logger
  readonly limits: Limits
  readonly exceptions: Exceptions
  readonly storage: Storage
  readonly secretBox: SecretBox
  readonly closers: (() => Promise<void> | void)[]
  readonly newId: () => string
  readonly baseUrl: () => string
  readonly gatewayUrl: () => string
}

interface Gateway {
  readonly server: Server
  readonly metricsUrl: string | undefined
  /** Resolves when every change committed so far is in force here. */
  catchUp(): Promise<void>
  isReady(): Readiness
  readonly readMeters: Ledger['read']
  /** Lets running requests end, then cuts what is left. */
  close(): Promise<void>
}

async function openGateway(shared: Shared): Promise<Gateway> {
  const { config, log, limits, exceptions, storage, closers, newId, baseUrl, gatewayUrl } = shared
  const onException = exceptions.note
  closers.push(await holdLock(shared))
  const { snapshots, announcements } = await openSnapshots(shared)
  closers.push(() => announcements.close())
  const records = openJournaled(shared)
  const { drain, openFor } = records
  closers.push(() => drain.close())
  const egress = { allowPrivate: config.allowPrivateUpstreams }
  const http = openHttpTransport(egress, onException)
  const sandbox = openSandboxTransport()
  const ticker = openTicker()
  closers.push(
    () => ticker.close(),
    () => http.close(),
    () => sandbox.close(),
  )
  const inFlight = new InFlight()
  const requestCounts = new RequestCounts()
  const cancelElsewhere = openCancelElsewhere(shared, inFlight)
  const lastUsed = new LastUsed({ store: uses => updateKeysLastUsed(storage.db, uses), log, onException })
  closers.push(() => lastUsed.close())
  const counting = await openCounting(shared, drain)
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
    signingKeys: new SigningKeys({ load: () => listSigningKeys(storage.db), now: systemClock.now }),
    ticker,
    inFlight,
    requestCounts,
    cancelElsewhere,
    latencies: new Latencies(systemClock.now),
    lastUsed,
    http,
    sandbox,
    egress,
    accessTokens: new AccessTokens({ policy: egress, now: systemClock.now, onException }),
    meterSets: new MeterSets(),
    admissions: openAdmissions(shared, counting.ledger),
    learned: new LearnedUse(),
    isLedgerShared: config.redisUrl !== undefined,
    openRecord: estimate => drain.open(estimate),
    writeRecord: record => drain.write(record),
    isJournalFull: () => config.journalFull === 'refuse' && drain.isFull(),
    isRequestLogged: (environmentId, requestId) => isRequestLogged(storage.db, environmentId, requestId),
    storeFeedback: async (of, feedback) => {
      if (await updateFeedback(storage.db, of, feedback)) return true
      // The record of an answer that was just read may still be on its way to the database.
      await drain.flush()
      return await updateFeedback(storage.db, of, feedback)
    },
    onCredentialRejected: id => {
      markCredentialRejected(storage.db, id, { clock: systemClock, newId }).catch(error =>
        log.error({ err: error }, 'a refused credential could not be marked'),
      )
    },
    baseUrl,
    gatewayUrl,
    prefixes: config.prefixes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    isReady,
  }
  limits.onDeps?.(deps)
  const server = createGatewayServer(deps)
  return {
    metricsUrl: await openMeasured(shared, { requestCounts, inFlight, records, isReady, counting }),
    server,
    catchUp: () => catchUp(announcements, snapshots),
    isReady,
    readMeters: (meters, at) => counting.ledger.read(meters, at),
    close: () => closeGracefully(server, inFlight, limits.graceMs),
  }
}

/** Gives where `/metrics` is. */
async function openMeasured(
  { config, log, exceptions, closers }: Shared,
  measured: Omit<Measured, 'exceptions'>,
): Promise<string | undefined> {
  const { metricsHost: host, metricsPort: port } = config
  const metrics = await openMetrics({ host, port, log, exceptions, ...measured })
  closers.push(() => metrics.close())
  return metrics.url
}

function openJournaled({ config, log, storage }: Shared): Records {
  return openRecords({
    dataDir: config.dataDir,
    now: systemClock.now,
    maxBytes: config.journalMaxBytes,
    isShared: config.redisUrl !== undefined,
    log,
    storage,
  })
}

/** Alone on its database, or one of several that share their limits. */
async function holdLock({ config, log, storage }: Shared): Promise<() => Promise<void>> {
  return await acquireInstanceLock(storage.connection, {
    isShared: config.redisUrl !== undefined,
    onLost: error => {
      log.fatal(error.message)
      process.kill(process.pid, 'SIGTERM')
    },
  })
}

async function openCounting(
  { config, log, exceptions, storage, closers, newId }: Shared,
  drain: Drain,
): Promise<OpenedLedger> {
  // Closed after the ledger, which may note something until then.
  const alerts = openAlerts({ storage, log }, newId, () => drain.flush())
  closers.push(() => alerts.close())
  const counting = await composeLedger({
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

function openAdmissions({ closers, exceptions }: Shared, ledger: Ledger): Admissions {
  const admissions = new Admissions({ ledger, now: systemClock.now, onException: exceptions.note })
  closers.push(() => admissions.close())
  return admissions
}

interface Readiness {
  ready: boolean
  reasons: string[]
}

/** Where nothing is refused for it, limits that are counted by each process alone are told but take nobody down. */
function readinessOf(
  snapshots: Snapshots,
  { ledger }: OpenedLedger,
  drain: Drain,
  config: Config,
): Readiness {
  const { isHealthy, reasons } = ledger.health()
  const isLost = snapshots.isLost()
  const isFull = drain.isFull()
  return {
    ready: !isLost && (isHealthy || config.limitsFailOpen) && !(isFull && config.journalFull === 'refuse'),
    reasons: [
      ...(isLost ? ['the database does not announce changes'] : []),
      ...(isFull ? ['the journal is full: usage records do not reach the database'] : []),
      ...reasons,
    ],
  }
}

/** Where this is the only gateway process there is nobody else to ask. */
function openCancelElsewhere(
  { config, log, exceptions, closers, newId }: Shared,
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

/** What the gateway knows of its tenants, and the announcements that keep it true. */
async function openSnapshots({
  config,
  log,
  storage,
  secretBox,
}: Shared): Promise<{ snapshots: Snapshots; announcements: ConfigNotifications }> {
  const snapshots = new Snapshots({
    source: {
      findKey: hash => findKeyByHash(storage.pool, hash),
      findEnvironment: id => findEnvironmentSnapshot(storage.pool, secretBox, id),
      findMinter: claims => findTokenMinter(storage.pool, claims),
      findEndUser: (environmentId, id) => getEndUserSnapshot(storage.pool, environmentId, id),
    },
    now: systemClock.now,
    maxStaleMs: config.configMaxStaleMs,
  })
  const announcements = await openConfigNotifications({
    connection: storage.connection,
    log: line => log.warn(line),
    onChange: id => snapshots.invalidate(id),
    onLost: () => snapshots.markLost(),
    onRestored: () => snapshots.markRestored(),
  })
  return { snapshots, announcements }
}

/** Where announcements cannot be waited for, what they would say is assumed. */
async function catchUp(announcements: ConfigNotifications, snapshots: Snapshots): Promise<void> {
  await announcements.barrier().catch(() => snapshots.flush())
}

/** Stops listening, waits for running requests, then stops those that take too long. */
async function closeGracefully(server: Server, inFlight: InFlight, graceMs: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  const idle = setInterval(() => {
    if (inFlight.size === 0) server.closeIdleConnections()
  }, 100)
  await closed
  clearTimeout(cut)
  clearInterval(idle)
}
