import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of Debian's PostgreSQL packages, with one folder per major version. */
const INSTALLED = '/usr/lib/postgresql'

/** The name of the vitest project that runs the control plane's suites on it. */
export const ON_INSTALLED_POSTGRES = 'control on the installed PostgreSQL'

/** Returns the newest PostgreSQL of this machine; undefined if none is installed. */
export function findInstalledPostgres(): { readonly major: number; readonly binDir: string } | undefined {
  if (!existsSync(INSTALLED)) return undefined
  return readdirSync(INSTALLED)
    .filter(name => /^\d+$/.test(name))
    .map(name => ({ major: Number(name), binDir: join(INSTALLED, name, 'bin') }))
    .filter(({ binDir }) => isExecutable(join(binDir, 'initdb')))
    .sort((a, b) => b.major - a.major)[0]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
