import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseInUseError, JournalInUseError } from '../../storage/instance-lock.ts'
import { ConfigError } from '../settings/config-error.ts'
import type { Config } from '../settings/settings.ts'
import { JOURNAL } from './records.ts'

type StartSettings = Pick<
  Config,
  'host' | 'gatewayPort' | 'controlPort' | 'metricsPort' | 'databaseUrl' | 'dataDir'
>

/** Returns why the program cannot start with these settings, for the person who starts it; the error itself if they are not the cause. */
export function explainStart(error: unknown, config: StartSettings): unknown {
  if (error instanceof DatabaseInUseError) {
    const database = config.databaseUrl === undefined ? `RIDEAU_DATA_DIR: ${config.dataDir}` : 'DATABASE_URL'
    return new ConfigError(`${database}: ${error.message}`, { cause: error })
  }
  if (error instanceof JournalInUseError) {
    const folder = path.join(config.dataDir, JOURNAL)
    const remedy = 'stop it, or give each gateway a data folder of its own'
    return new ConfigError(`RIDEAU_DATA_DIR: ${folder}: ${error.message}: ${remedy}`, { cause: error })
  }
  const { code, syscall, hostname, port } = error as NodeJS.ErrnoException & {
    hostname?: string
    port?: number
  }
  if (syscall === 'getaddrinfo' && hostname === config.host) {
    return new ConfigError(`RIDEAU_HOST: ${config.host} is no address of this machine`, { cause: error })
  }
  if (syscall !== 'listen' || code === undefined) return error
  const names = portSettings(config)
    .filter(([, set]) => set === port)
    .map(([name]) => name)
  const address = `${config.host}:${port}`
  if (names.length > 1) return new ConfigError(`${names.join(' and ')}: both are ${port}`, { cause: error })
  const [name = 'RIDEAU_HOST'] = names
  const reason = LISTEN_REASONS.get(code) ?? `cannot be listened on (${code})`
  return new ConfigError(`${name}: ${address} ${reason}`, { cause: error })
}

const LISTEN_REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'is taken by another process'],
  ['EADDRNOTAVAIL', 'is no address of this machine'],
  ['EACCES', 'may not be listened on by this user'],
])

function portSettings({
  gatewayPort,
  controlPort,
  metricsPort,
}: StartSettings): [string, number | undefined][] {
  return [
    ['RIDEAU_GATEWAY_PORT', gatewayPort],
    ['RIDEAU_CONTROL_PORT', controlPort],
    ['RIDEAU_METRICS_PORT', metricsPort],
  ]
}

/** Makes the data folder, unless it is there. Throws ConfigError if it cannot be made or written. */
export function prepareDataFolder(dataDir: string): void {
  try {
    makeFolder(path.resolve(dataDir))
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOTDIR' ? 'a part of its path is a file' : code
    throw new ConfigError(`RIDEAU_DATA_DIR: ${dataDir} cannot be made or written: ${reason}`, { cause })
  }
}

/** Node's own creation of a whole path never ends where the system lets nobody make folders, as below /proc. */
function makeFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found === undefined) {
    makeFolder(path.dirname(folder))
    try {
      mkdirSync(folder, { mode: 0o700 })
    } catch (error) {
      // Another process may have made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  } else if (!found.isDirectory()) {
    throw Object.assign(new Error(`${folder} is a file`), { code: 'ENOTDIR' })
  }
}
