import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { type ControlDeps, createControlServer } from '../control/server.ts'
import { systemClock } from '../core/clock.ts'
import { openIds } from '../core/ids.ts'
import { systemRandom } from '../core/random.ts'
import { openSecretBox, type SecretBox } from '../core/secret-box.ts'
import { listen, urlBySettings, urlOf } from '../http/listen.ts'
import { openFileSecretBox } from '../storage/master-key.ts'
import { openStorage } from '../storage/open-storage.ts'
import { openDatabase, openPool } from '../storage/pool.ts'
import { hasUsers } from '../storage/users.ts'
import { LIMITS, type Limits } from './app-parts.ts'
import { Exceptions } from './exceptions.ts'
import { openJobs } from './jobs.ts'
import { type Gateway, openGateway } from './open-gateway.ts'
import type { Config } from './settings.ts'

export interface Planes {
  readonly gateway: boolean
  readonly control: boolean
}

/** The running program. */
export interface App {
  /** As callers reach the planes; undefined for one that this process does not run. */
  readonly gatewayUrl: string | undefined
  readonly controlUrl: string | undefined
  /** Where `/metrics` is; undefined also where its port was taken. */
  readonly metricsUrl: string | undefined
  /** Is there still nobody who could sign in? Then the set-up token opens the app. */
  readonly setupToken: string | undefined
  /** Refuses new requests, lets running ones end for a while, writes what is owed, then stops. */
  close(): Promise<void>
}

/** The only place that makes things. Throws where the app cannot stand; what was begun is taken down again. */
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
  const parts = {
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

  const gateway = planes.gateway ? await openGateway(parts) : undefined
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
