import type { Server } from 'node:http'
import type { Pool } from 'pg'
import { type ControlDeps, createControlServer } from '../../control/server.ts'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { openDatabase, openPool } from '../../storage/pool.ts'
import { closeControl } from '../process/close-server.ts'
import { once } from '../process/once.ts'
import type { AppParts } from './app-parts.ts'
import { openDatabaseReadiness } from './database-readiness.ts'
import type { Gateway } from './gateway.ts'
import { openConnectionLimits } from './open-connection-limits.ts'

/** A page of a file takes up to 32 MiB, of which a caller that is alone may have one. */
const MIN_CONTROL_ANSWER_BYTES = 64 * 1024 * 1024

export interface Control {
  readonly server: Server
  close(): Promise<void>
}

/** Creates the control plane and starts to listen. */
export async function openControl(
  parts: AppParts,
  gateway: Gateway | undefined,
  setupToken: string | undefined,
): Promise<Control> {
  const { config, log, overrides, exceptions, sockets, storage, closers } = parts
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
      ...overrides,
      addressRate: config.frontDoor.addressRate,
      bodyBytes: config.frontDoor.bodyBytes / 4,
      answerBytes: Math.max(MIN_CONTROL_ANSWER_BYTES, config.frontDoor.answerBytes / 4),
    },
  )
  openConnectionLimits(config, 'control').guard(control.server)
  sockets.sendTimeouts.watch(control.server)
  const { server } = control
  const close = once(() =>
    closeControl(server, () => control.close(), { graceMs: overrides.graceMs, cut: parts.cut }),
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

/** Returns what the control plane needs of the gateway in the same process, or defaults if there is none. */
function toControl(
  gateway: Gateway | undefined,
  pool: Pool,
): Pick<ControlDeps, 'afterWrite' | 'readMeters' | 'getReadiness'> {
  if (gateway !== undefined) {
    return { afterWrite: gateway.catchUp, readMeters: gateway.readMeters, getReadiness: gateway.getReadiness }
  }
  return {
    afterWrite: async () => {},
    readMeters: undefined,
    getReadiness: openDatabaseReadiness(pool),
  }
}
