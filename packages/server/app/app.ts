import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { type ControlDeps, createControlServer } from '../control/server.ts'
import { systemClock } from '../core/clock.ts'
import { openIds } from '../core/ids.ts'
import { systemRandom } from '../core/random.ts'
import { openSecretBox, type SecretBox } from '../core/secret-box.ts'
import type { EgressPolicy } from '../http/egress.ts'
import { listen, urlBySettings, urlOf } from '../http/listen.ts'
import { openConfiguredEgress } from '../http/open-egress.ts'
import { openFileSecretBox } from '../storage/master-key.ts'
import { openStorage } from '../storage/open-storage.ts'
import { openDatabase, openPool } from '../storage/pool.ts'
import { hasUsers } from '../storage/users.ts'
import { type AppParts, LIMITS, type Limits } from './app-parts.ts'
import { Exceptions } from './exceptions.ts'
import { openJobs } from './jobs.ts'
import { openConnectionLimits } from './open-connection-limits.ts'
import { type Gateway, openGateway } from './open-gateway.ts'
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
  /** Accepts no more requests, gives running ones time to end, writes the remaining records, then stops. */
  close(): Promise<void>
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
): Promise<App> {
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
    closers,
    egress,
    newId,
    baseUrl,
    gatewayUrl,
  }

  const gateway = planes.gateway ? await openGateway(parts) : undefined
  if (gateway !== undefined) {
    const onError = (error: Error): void => exceptions.note(error, 'the listener of the gateway')
    urls.gateway = await listen(gateway.server, config.host, config.gatewayPort, onError)
    closers.push(() => gateway.close())
  }
  if (planes.control) {
    const control = await openControl(parts, gateway, setupToken)
    closers.push(() => control.close())
    urls.control = urlOf(control.server.address() as AddressInfo)
  }
  const { gateway: gatewayAt, control: controlUrl } = urls
  return { gatewayUrl: gatewayAt, controlUrl, metricsUrl: gateway?.metricsUrl, setupToken, close: closeAll }
}

/** Returns what the control plane needs of the gateway in the same process, or defaults if there is none. */
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

function openEgress({ allowPrivateUpstreams: allowPrivate }: Config, { dnsServers }: Limits): EgressPolicy {
  return openConfiguredEgress({ allowPrivate, dnsServers })
}

function openBox({ masterKey, formerMasterKeys, dataDir }: Config): SecretBox {
  return masterKey === undefined
    ? openFileSecretBox(dataDir, systemRandom)
    : openSecretBox(masterKey, systemRandom, formerMasterKeys)
}

/** Creates the control plane and starts to listen. */
async function openControl(
  parts: AppParts,
  gateway: Gateway | undefined,
  setupToken: string | undefined,
): Promise<FastifyInstance> {
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
      setupToken: () => setupToken,
      trustedProxies: config.trustedProxies,
      oidc: config.oidc,
      ...toControl(gateway),
    },
    { ...limits, addressRate: config.frontDoor.addressRate, bodyBytes: config.frontDoor.bodyBytes / 4 },
  )
  openConnectionLimits(config, 'control').guard(control.server)
  sockets.sendTimeouts.watch(control.server)
  await control.listen({ host: config.host, port: config.controlPort })
  control.server.on('error', error => exceptions.note(error, 'the listener of the control plane'))
  return control
}
