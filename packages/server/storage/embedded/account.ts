import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The user that the server runs as. PostgreSQL refuses to run as root, so root starts it as another user. */
export interface Account {
  readonly uid: number
  readonly gid: number
  /** True: this process is root and switches to the account for the server's processes. */
  readonly switched: boolean
}

/** A line of /etc/passwd. */
export interface NamedUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** What the machine knows of users. */
export interface KnownUsers {
  readonly named: readonly NamedUser[]
  /** Every uid and gid that a name or a running process has. */
  readonly usedIds: ReadonlySet<number>
}

/** An account with this name is used, if the machine has one. */
const OWN_NAME = 'rideau'

/** `nobody` on Debian, Alpine and Red Hat. Programs that trust each other in nothing share it. */
export const NOBODY = 65534

/**
 * The ids to choose from if there is no such account: systemd's table of ids leaves them to nobody, no tool gives them to
 * a person or a service, and a container that maps only 65,536 ids has them.
 */
const FIRST_ID = 60_706
const ID_COUNT = 478

/**
 * The account for the cluster in this folder: the current user. For root it is the folder's owner, so that a database
 * which an ordinary user created stays that user's; or else an account of the database's own, which no other program
 * runs as: `rideau`, or an id without a name that is free. Throws on platforms without user ids.
 */
export function chooseAccount(clusterDir: string, readUsers: () => KnownUsers = readKnownUsers): Account {
  const uid = process.geteuid?.()
  const gid = process.getegid?.()
  if (uid === undefined || gid === undefined) {
    throw new Error(`the embedded PostgreSQL does not run on ${process.platform}: set DATABASE_URL`)
  }
  if (uid !== 0) return { uid, gid, switched: false }
  if (process.platform !== 'linux') {
    throw new Error(
      'the embedded PostgreSQL does not run as root on this platform: use an ordinary user, or set DATABASE_URL',
    )
  }
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (owner !== undefined && !isShared(owner.uid)) {
    return { uid: owner.uid, gid: owner.gid, switched: true }
  }
  return { ...chooseDedicated(clusterDir, readUsers()), switched: true }
}

/** True for users that no cluster belongs to: root, which PostgreSQL refuses, and nobody, which other programs run as. */
function isShared(uid: number): boolean {
  return uid === 0 || uid === NOBODY
}

function chooseDedicated(clusterDir: string, users: KnownUsers): { uid: number; gid: number } {
  const own = users.named.find(({ name, uid }) => name === OWN_NAME && !isShared(uid))
  if (own !== undefined) return { uid: own.uid, gid: own.gid }
  // By the path, so that two deployments of one machine rarely share an id, and that a second attempt finds the same.
  const start = createHash('sha256').update(clusterDir).digest().readUInt32BE()
  for (let i = 0; i < ID_COUNT; i++) {
    const id = FIRST_ID + ((start + i) % ID_COUNT)
    if (!users.usedIds.has(id)) return { uid: id, gid: id }
  }
  throw new Error(
    `no user id is free for the embedded PostgreSQL: add a user ${OWN_NAME}, or set DATABASE_URL`,
  )
}

/**
 * The account that initdb runs as, which needs a name in /etc/passwd; the server needs none. It is the server's own
 * account if that has a name. Otherwise it is another account's uid with the server's gid: processes of that account lack
 * the gid, and therefore may neither trace this process nor enter a folder of that group. Throws if there is no account.
 */
export function chooseCreator(account: Account, readUsers: () => KnownUsers = readKnownUsers): Account {
  if (!account.switched) return account
  const { named } = readUsers()
  if (named.some(({ uid }) => uid === account.uid)) return account
  const found = named.find(({ uid }) => uid === NOBODY) ?? named.find(({ uid }) => uid !== 0)
  if (found !== undefined) return { uid: found.uid, gid: account.gid, switched: true }
  const line = `${OWN_NAME}:x:${account.uid}:${account.gid}::/nonexistent:/sbin/nologin`
  throw new Error(
    `PostgreSQL's initdb needs a user besides root that /etc/passwd names: add the line ${line}, or set DATABASE_URL`,
  )
}

/** Reads /etc/passwd, /etc/group and the owners of all processes. A file that does not exist counts as empty. */
function readKnownUsers(): KnownUsers {
  const named = parsePasswd(readText('/etc/passwd'))
  const groups = readText('/etc/group')
    .split('\n')
    .map(line => Number(line.split(':')[2] ?? ''))
  const processes = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  const owners = processes.flatMap(pid => {
    const found = statSync(`/proc/${pid}`, { throwIfNoEntry: false })
    return found === undefined ? [] : [found.uid, found.gid]
  })
  const names = named.flatMap(({ uid, gid }) => [uid, gid])
  return { named, usedIds: new Set([...names, ...groups, ...owners]) }
}

/** The users of a text in the format of /etc/passwd; other lines are ignored. */
export function parsePasswd(text: string): NamedUser[] {
  return text.split('\n').flatMap(line => {
    const match = /^([^:+-][^:]*):[^:]*:(\d{1,10}):(\d{1,10}):/.exec(line)
    return match === null ? [] : [{ name: match[1] as string, uid: Number(match[2]), gid: Number(match[3]) }]
  })
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** The options of spawn() that run a child as the account. */
export function spawnAs(account: Account): { uid?: number; gid?: number } {
  return account.switched ? { uid: account.uid, gid: account.gid } : {}
}

/** True if the account can enter every folder above the path, and enter or execute the path itself. */
export function canReach(path: string, account: Account): boolean {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
