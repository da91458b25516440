import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { systemRandom } from '../core/random.ts'
import { urlOf } from '../http/head/listen.ts'
import type { Db } from '../storage/pool.ts'
import { hasUsers } from '../storage/users/users.ts'
import { type AppOverrides, type AppParts, DEFAULT_OVERRIDES } from './parts/app-parts.ts'
import { openControl } from './parts/open-control.ts'
import { openGateway } from './parts/open-gateway.ts'
import { type ListeningUrls, openParts } from './parts/open-parts.ts'
import { closeAll } from './process/close-all.ts'
import type { StopCounts } from './process/close-server.ts'
import { Exceptions } from './process/exceptions.ts'
import { once } from './process/once.ts'
import type { Config } from './settings/settings.ts'
import { openWorkers } from './workers/open-workers.ts'

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
  overrides: AppOverrides = DEFAULT_OVERRIDES,
  exceptions: Exceptions = new Exceptions(log),
): Promise<App> {
  const closers: (() => Promise<void> | void)[] = []
  const cut = new AbortController()
  const urls: ListeningUrls = {}
  try {
    const parts = await openParts({ config, log, overrides, exceptions, cut: cut.signal, closers }, urls)
    return await openPlanes(parts, planes, urls, cut)
  } catch (error) {
    await closeAll(closers).catch(another => log.error({ err: another }, 'a part could not be closed'))
    throw error
  }
}

async function openPlanes(
  parts: AppParts,
  planes: Planes,
  urls: ListeningUrls,
  cut: AbortController,
): Promise<App> {
  const { config, storage, closers } = parts
  const setupToken = await findSetupToken(config, storage.db)
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
  const cutNow = (): Promise<StopCounts> => {
    cut.abort()
    return closeGateway()
  }
  return {
    gatewayUrl: urls.gateway,
    controlUrl: urls.control,
    metricsUrl: gateway?.metricsUrl,
    setupToken,
    close,
    cut: cutNow,
    replaceWorkers: gateway?.replaceWorkers,
  }
}

/** Returns the configured token of the first-run set-up or a random one; undefined once there is a user. */
async function findSetupToken({ setupToken }: Config, db: Db): Promise<string | undefined> {
  if (await hasUsers(db)) return undefined
  return setupToken ?? systemRandom.bytes(18).toString('base64url')
}
