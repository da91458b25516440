import { mkdirSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type ControlDeps, createControlServer } from '../control/server.ts'
import { systemClock } from '../core/clock.ts'
import { openIds } from '../core/ids.ts'
import { systemRandom } from '../core/random.ts'
import { openSecretBox, type SecretBox } from '../core/secret-box.ts'
import type { EgressPolicy } from '../http/egress.ts'
import { urlBySettings, urlOf } from '../http/listen.ts'
import { openConfiguredEgress } from '../http/open-egress.ts'
import { openFileSecretBox } from '../storage/master-key.ts'
import { openStorage } from '../storage/open-storage.ts'
import { openDatabase, openPool } from '../storage/pool.ts'
import { hasUsers } from '../storage/users.ts'
import { type AppParts, LIMITS, type Limits } from './app-parts.ts'
import { closeControl, type StopCounts } from './close-server.ts'
import { openDatabaseReadiness } from './database-readiness.ts'
import { Exceptions } from './exceptions.ts'
import { openJobs } from './jobs.ts'
import { openConnectionLimits } from './open-connection-limits.ts'
import { type Gateway, openGateway } from './open-gateway.ts'
import { openWorkers } from './open-workers.ts'
import type { Config } from './settings.ts'
import { openSockets } from './sockets.ts'

export interface Planes {
  readonly gateway: boolean
  readonly control: boolean
}

/** The running program. */
export interface App {
  /** The URLs of the two servers; undefined for one that this process does not run. */
  readonly gatewayUrl: string | undefined
  readonly controlUrl: string | undefined
  /** The URL of `/metrics`; undefined without a gateway, or if the default port is taken. */
  readonly metricsUrl: string | undefined
  /** The token of the first-run set-up; undefined once there is a user. */
  readonly setupToken: string | undefined
  /**
   * Accepts no more requests, gives running ones time to end, writes the remaining records, then stops. Resolves with what
   * became of the running requests.
   */
  close(): Promise<StopCounts>
  /** Ends the time that `close` gives to running requests. Resolves once they have ended, while the rest still closes. */
  cut(): Promise<StopCounts>
  /** Replaces the gateway workers one by one while requests run; absent: there are none. */
  readonly replaceWorkers?: (() => Promise<void>) | undefined
}

/** Creates and starts the app. Throws if a part cannot start, after it closed the parts that had started. */
export async function openApp(
  config: Config,
  planes: Planes,
  log: Logger,
  limits: Limits = LIMITS,
  exceptions: Exceptions = new Exceptions(log),
): Promise<App> {
  const closers: (() => Promise<void> | void)[] = []
  try {
    return await build(config, planes, log, limits, exceptions, closers)
  } catch (error) {
    await closeAll(closers).catch(another => log.error({ err: another }, 'a part could not be closed'))
    throw error
  }
}

/** Closes every part, the last one first. A part that fails does not keep the others open; the first error is thrown. */
export async function closeAll(closers: readonly (() => Promise<void> | void)[]): Promise<void> {
  const errors: unknown[] = []
  for (const close of [...closers].reverse()) {
    try {
      await close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

async function build(
  config: Config,
  planes: Planes,
  log: Logger,
  limits: Limits,
  exceptions: Exceptions,
  closers: (() => Promise<void> | void)[],
): Promise<App> {
  const cut = new AbortController()
  const logLine = (line: string): void => log.info(line)
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const storage = await openStorage({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    log: logLine,
  })
  closers.push(() => storage.close())
  const secretBox = openBox(config)
  const newId = openIds(systemClock, systemRandom)
  const egress = openEgress(config, limits)
  const { idempotencyBytes } = config
  await openJobs({ storage, log, secretBox, newId, egress, idempotencyBytes, closers })
  const setupToken = (await hasUsers(storage.db))
    ? undefined
    : (config.setupToken ?? systemRandom.bytes(18).toString('base64url'))
  const urls: { gateway?: string; control?: string } = {}
  const baseUrl = (): string =>
    config.baseUrl ?? urlBySettings(config.host, config.controlPort) ?? urls.control ?? ''
  const gatewayUrl = (): string =>
    config.gatewayUrl ?? urlBySettings(config.host, config.gatewayPort) ?? urls.gateway ?? ''
  const parts = {
    config,
    log,
    limits,
    exceptions,
    sockets: openSockets(config, closers),
    storage,
    secretBox,
    cut: cut.signal,
    closers,
    egress,
    newId,
    baseUrl,
    gatewayUrl,
  }

  const open = config.workers > 1 ? openWorkers : openGateway
  const gateway = planes.gateway ? await open(parts) : undefined
  const closeGateway = once(async () => (await gateway?.close()) ?? { finished: 0, cut: 0 })
  if (gateway !== undefined) {
    urls.gateway = await gateway.listen()
    closers.push(async () => void (await closeGateway()))
  }
  const control = planes.control ? await openControl(parts, gateway, setupToken) : undefined
  if (control !== undefined) urls.control = urlOf(control.server.address() as AddressInfo)
  const close = once(async () => {
    // Both at once: calls of one plane must not keep the other one accepting requests.
    await Promise.allSettled([closeGateway(), control?.close()])
    await closeAll(closers)
    return await closeGateway()
  })
  const { gateway: gatewayAt, control: controlUrl } = urls
  const metricsUrl = gateway?.metricsUrl
  const cutNow = (): Promise<StopCounts> => {
    cut.abort()
    return closeGateway()
  }
  const replaceWorkers = gateway?.replaceWorkers
  return { gatewayUrl: gatewayAt, controlUrl, metricsUrl, setupToken, close, cut: cutNow, replaceWorkers }
}

/** Returns a function that runs `task` at its first call, and returns that result at every call. */
function once<T>(task: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= task()
    return result
  }
}

/** Returns what the control plane needs of the gateway in the same process, or defaults if there is none. */
function toControl(
  gateway: Gateway | undefined,
  pool: Pool,
): Pick<ControlDeps, 'afterWrite' | 'readMeters' | 'isReady'> {
  if (gateway !== undefined) {
    return { afterWrite: gateway.catchUp, readMeters: gateway.readMeters, isReady: gateway.isReady }
  }
  return {
    afterWrite: async () => {},
    readMeters: async () => undefined,
    isReady: openDatabaseReadiness(pool),
  }
}

export function openEgress(
  { allowPrivateUpstreams: allowPrivate }: Config,
  { dnsServers }: Limits,
): EgressPolicy {
  return openConfiguredEgress({ allowPrivate, dnsServers })
}

export function openBox({ masterKey, formerMasterKeys, dataDir }: Config): SecretBox {
  return masterKey === undefined
    ? openFileSecretBox(dataDir, systemRandom)
    : openSecretBox(masterKey, systemRandom, formerMasterKeys)
}

interface Control {
  readonly server: Server
  close(): Promise<void>
}

/** A page of a file takes up to 32 MiB, of which a caller that is alone may have one. */
const LEAST_CONTROL_ANSWER_BYTES = 64 * 1024 * 1024

/** Creates the control plane and starts to listen. */
async function openControl(
  parts: AppParts,
  gateway: Gateway | undefined,
  setupToken: string | undefined,
): Promise<Control> {
  const { config, log, limits, exceptions, sockets, storage, closers } = parts
  const { secretBox, egress, newId, baseUrl, gatewayUrl } = parts
  // A pool of its own, so that slow calls of the control plane never make the gateway wait for a connection.
  const pool = openPool(storage.connection, line => log.info(line))
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
      gatewayPrefixes: config.prefixes,
      dashboardDir: config.dashboardDir,
      setupToken: () => setupToken,
      trustedProxies: config.trustedProxies,
      oidc: config.oidc,
      ...toControl(gateway, pool),
    },
    {
      ...limits,
      addressRate: config.frontDoor.addressRate,
      bodyBytes: config.frontDoor.bodyBytes / 4,
      answerBytes: Math.max(LEAST_CONTROL_ANSWER_BYTES, config.frontDoor.answerBytes / 4),
    },
  )
  openConnectionLimits(config, 'control').guard(control.server)
  sockets.sendTimeouts.watch(control.server)
  const { server } = control
  const close = once(() =>
    closeControl(server, () => control.close(), { graceMs: limits.graceMs, cut: parts.cut }),
  )
  closers.push(close)
  await control.listen({
    host: config.host,
    port: config.controlPort,
    listenTextResolver: address => `the control plane listens at ${address}`,
  })
  server.on('error', error => exceptions.note(error, 'the listener of the control plane'))
  return { server, close }
}
