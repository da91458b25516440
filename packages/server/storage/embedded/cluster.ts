import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  mkdirSync,
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
import { type Account, canReach, chooseCreator, spawnAs } from './account.ts'
import { changeOwner } from './change-owner.ts'
import { syncFolder } from './sync-folder.ts'

/** The server's whole environment. It inherits nothing: LD_LIBRARY_PATH or PGDATA of a shell would change it. */
export const SERVER_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** How a child process finds a cluster. */
export interface ClusterLocation {
  /** The value of the option -D. */
  readonly argument: string
  /** The folder to start in. */
  readonly cwd: string
}

/**
 * Locates a cluster by its path. If the account cannot reach the path (a project in root's home), the child starts in the
 * folder before it switches to the account, and the server uses paths relative to its working folder.
 */
export function locateCluster(dir: string, reachable: boolean): ClusterLocation {
  return reachable ? { argument: dir, cwd: '/' } : { argument: '/proc/self/cwd', cwd: dir }
}

/**
 * Creates a cluster in a temporary folder and renames it, so that the folder `dir` is always complete. initdb runs as
 * the account or, if that has no name, as another one (chooseCreator).
 */
export async function createCluster(options: {
  readonly binDir: string
  readonly dir: string
  readonly account: Account
  readonly reachable: boolean
  readonly initArgs: readonly string[]
}): Promise<void> {
  const { binDir, dir, account } = options
  // Checked first, because initdb's own error message says less.
  loginName()
  const creator = chooseCreator(account)
  const parent = dirname(dir)
  const prefix = `.new-${basename(dir)}-`
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true })
  }
  const temporary = mkdtempSync(join(parent, prefix))
  try {
    const created = creator.uid === account.uid ? temporary : closeToOthers(temporary, account)
    if (creator.switched) chownSync(created, creator.uid, creator.gid)
    const reachable = options.reachable && (creator.uid === account.uid || canReach(parent, creator))
    const location = locateCluster(created, reachable)
    const fixed = [
      '-D',
      location.argument,
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '-A',
      'reject',
      '--no-instructions',
    ]
    await run(join(binDir, 'initdb'), [...fixed, ...options.initArgs], creator, location.cwd)
    if (creator.uid !== account.uid) changeOwner(created, creator.uid, account)
    renameSync(created, dir)
    rmSync(temporary, { recursive: true, force: true })
    syncFolder(parent)
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    throw toSwitchError(error, account)
  }
}

/**
 * Creates a folder below this one, which only root and processes with the account's gid can enter. Other processes with
 * the creator's uid have another gid.
 */
function closeToOthers(dir: string, account: Account): string {
  const inner = join(dir, 'cluster')
  mkdirSync(inner, { mode: 0o700 })
  chownSync(dir, 0, account.gid)
  chmodSync(dir, 0o710)
  return inner
}

/**
 * Writes the rules that let in only the user of this process, by peer authentication on the socket: no
 * password is stored and no port is open. Returns true if the rules changed.
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
      `uid ${process.geteuid?.()} has no name in /etc/passwd, which PostgreSQL needs: add one, or set DATABASE_URL`,
      { cause },
    )
  }
}

/**
 * Replaces a file unless it has the content, and returns whether it did. The account owns the folder, so the file is
 * created anew: writing to an existing path could follow a link.
 */
function writeOwned(path: string, content: string, account: Account): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === content) return false
  const temporary = `${path}.new`
  rmSync(temporary, { force: true })
  const fd = openSync(temporary, 'wx', 0o600)
  try {
    if (account.switched) fchownSync(fd, account.uid, account.gid)
    writeSync(fd, content)
  } finally {
    closeSync(fd)
  }
  renameSync(temporary, path)
  return true
}

async function run(program: string, args: readonly string[], account: Account, cwd: string): Promise<void> {
  let outcome = await runOnce(program, args, account, cwd)
  // Ctrl-C can reach the child in the moment before it has a session of its own, and so before the program runs: initdb itself
  // would name the signal.
  if (outcome.endedBy !== null && outcome.output === '') outcome = await runOnce(program, args, account, cwd)
  const { code, endedBy, output } = outcome
  if (code !== 0) throw new Error(`${basename(program)}: exit ${code ?? endedBy}: ${output}`)
}

interface Outcome {
  readonly code: number | null
  readonly endedBy: NodeJS.Signals | null
  readonly output: string
}

async function runOnce(
  program: string,
  args: readonly string[],
  account: Account,
  cwd: string,
): Promise<Outcome> {
  const child = spawn(program, args, {
    ...spawnAs(account),
    cwd,
    env: SERVER_ENV,
    // Ctrl-C in a terminal does not reach it: a first start that is stopped ends in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<Omit<Outcome, 'output'>>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, endedBy) => resolve({ code, endedBy }))
  })
  const [end, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { ...end, output: `${out}${err}` }
}

/** Explains a failure to switch users: a container may deny root that right, or have no other users. */
export function toSwitchError(error: unknown, account: Account): Error {
  const { code } = error as NodeJS.ErrnoException
  if (account.switched && (code === 'EPERM' || code === 'EINVAL' || code === 'EACCES')) {
    return new Error(
      'root cannot start the embedded PostgreSQL as another user here: run as an ordinary user, or set DATABASE_URL',
      { cause: error },
    )
  }
  return error instanceof Error ? error : new Error(String(error))
}
