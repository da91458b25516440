import { spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Account, spawnAs } from './account.ts'

/** Nothing of our environment reaches the server: LD_LIBRARY_PATH or PGDATA of a user's shell would. */
export const SERVER_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** How a child finds a cluster: what follows -D, and the folder to start in. */
export interface Place {
  readonly argument: string
  readonly cwd: string
}

/**
 * Where the account cannot walk to the cluster (a project in root's own home), the child is put into the folder
 * before it becomes the account, and finds it as its working folder; the server uses relative paths from then on.
 */
export function placeOf(dir: string, reachable: boolean): Place {
  return reachable ? { argument: dir, cwd: '/' } : { argument: '/proc/self/cwd', cwd: dir }
}

/** Makes a cluster beside its place and renames it: a folder of that name is always whole. */
export async function createCluster(options: {
  readonly binDir: string
  readonly dir: string
  readonly account: Account
  readonly reachable: boolean
  readonly initArgs: readonly string[]
}): Promise<void> {
  const { binDir, dir, account } = options
  // Asked before anything is made: initdb would fail on it in words that help less.
  loginName()
  const parent = dirname(dir)
  const prefix = `.new-${basename(dir)}-`
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true })
  }
  const fresh = mkdtempSync(join(parent, prefix))
  try {
    if (account.switched) chownSync(fresh, account.uid, account.gid)
    const place = placeOf(fresh, options.reachable)
    const fixed = ['-D', place.argument, '-U', 'postgres', '-E', 'UTF8', '-A', 'reject', '--no-instructions']
    await run(join(binDir, 'initdb'), [...fixed, ...options.initArgs], account, place.cwd)
    renameSync(fresh, dir)
    syncFolder(parent)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    throw explain(error, account)
  }
}

/**
 * Lets in whoever runs this process, by the kernel's word on the socket: no password to store, no port to reach.
 * True where the rules were others before.
 */
export function writeAccessRules(dir: string, account: Account): boolean {
  const rules = writeOwned(join(dir, 'pg_hba.conf'), 'local all all peer map=own\n', account)
  const names = writeOwned(join(dir, 'pg_ident.conf'), `own "${loginName()}" postgres\n`, account)
  return rules || names
}

function loginName(): string {
  try {
    return userInfo().username
  } catch (cause) {
    throw new Error(
      `uid ${process.geteuid?.()} has no name in /etc/passwd, which PostgreSQL needs: add one or set DATABASE_URL`,
      { cause },
    )
  }
}

/** The folder is the account's, so nothing in it is trusted: the new file is made afresh and never through a link. */
function writeOwned(path: string, content: string, account: Account): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === content) return false
  const fresh = `${path}.new`
  rmSync(fresh, { force: true })
  const fd = openSync(fresh, 'wx', 0o600)
  try {
    if (account.switched) fchownSync(fd, account.uid, account.gid)
    writeSync(fd, content)
  } finally {
    closeSync(fd)
  }
  renameSync(fresh, path)
  return true
}

async function run(program: string, args: readonly string[], account: Account, cwd: string): Promise<void> {
  const child = spawn(program, args, {
    ...spawnAs(account),
    cwd,
    env: SERVER_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, name) => resolve(code === 0 ? undefined : `exit ${code ?? name}`))
  })
  const [failure, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (failure !== undefined) throw new Error(`${basename(program)}: ${failure}: ${out}${err}`)
}

/** A container may withhold root's right to become another user, or map no other user at all. */
export function explain(error: unknown, account: Account): Error {
  const { code } = error as NodeJS.ErrnoException
  if (account.switched && (code === 'EPERM' || code === 'EINVAL' || code === 'EACCES')) {
    return new Error(
      'root may not hand the embedded PostgreSQL to another user here: run as an ordinary user or set DATABASE_URL',
      { cause: error },
    )
  }
  return error instanceof Error ? error : new Error(String(error))
}

function syncFolder(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
