import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Account,
  canReach,
  chooseAccount,
  chooseCreator,
  type KnownUsers,
  parsePasswd,
  spawnAs,
} from './account.ts'
import { changeOwner } from './change-owner.ts'
import { createCluster, locateCluster, toSwitchError, writeAccessRules } from './cluster.ts'
import { chooseSocketFolder, prepareSocketFolder } from './socket-folder.ts'
import { waitFor } from './wait-for.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rideau-cluster-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const own: Account = {
  uid: process.geteuid?.() ?? 0,
  gid: process.getegid?.() ?? 0,
  switched: false,
}
const stranger: Account = { uid: 4_000_000, gid: 4_000_000, switched: true }

const isRoot = own.uid === 0
if (!isRoot) console.log('skipped: 6 tests of the account and the owner of a cluster that only root can run')

const PASSWD = `root:x:0:0:root:/root:/bin/sh
daemon:x:1:1::/:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
`
const users = (passwd: string): KnownUsers => ({ named: parsePasswd(passwd), usedIds: new Set() })

/** A program that stands for initdb. */
function writeProgram(name: string, script: string): string {
  writeFileSync(join(home, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return home
}

describe('a new cluster', () => {
  const create = (dir: string): Promise<void> =>
    createCluster({ binDir: home, dir, account: own, reachable: true, initArgs: ['--extra'] })

  test('appears under its name only when initdb has ended, and then completely', async () => {
    writeProgram('initdb', 'echo "$@" > "$2/arguments"')
    const dir = join(home, 'data', 'pg18')
    mkdirSync(join(home, 'data'))
    await create(dir)
    const words = readFileSync(join(dir, 'arguments'), 'utf8')
    expect(words).toMatch(/^-D .*\.new-pg18-\w+ -U postgres -E UTF8 -A reject --no-instructions --extra\n$/)
    expect(readdirSync(join(home, 'data'))).toEqual(['pg18'])
  })

  test.runIf(isRoot)(
    "is closed to other processes of the user that makes it, and is the account's afterwards",
    async () => {
      writeProgram(
        'initdb',
        'stat -c "%a %u %g" "$2/.." "$2" > "$2/modes"; id -u >> "$2/modes"; id -g >> "$2/modes"',
      )
      const dir = join(home, 'data', 'pg18')
      mkdirSync(join(home, 'data'))
      for (const each of [home, join(home, 'data')]) chmodSync(each, 0o755)
      const account = { uid: 60_800, gid: 60_801, switched: true }
      await createCluster({ binDir: home, dir, account, reachable: true, initArgs: [] })
      const [outer, inner, uid, gid] = readFileSync(join(dir, 'modes'), 'utf8').split('\n')
      // Without the gid a process can neither enter the outer folder nor trace initdb.
      expect([outer, inner, gid]).toEqual(['710 0 60801', `700 ${uid} 60801`, '60801'])
      expect([0, 60_800]).not.toContain(Number(uid))
      expect(readdirSync(join(home, 'data'))).toEqual(['pg18'])
      for (const each of [dir, join(dir, 'modes')]) {
        expect([statSync(each).uid, statSync(each).gid]).toEqual([60_800, 60_801])
      }
    },
  )

  test('leaves nothing behind if initdb fails, and the error has its output', async () => {
    writeProgram('initdb', 'echo out; echo "no space left" >&2; exit 3')
    const dir = join(home, 'data', 'pg18')
    mkdirSync(join(home, 'data'))
    await expect(create(dir)).rejects.toThrow(/^initdb: exit 3: out\nno space left/)
    expect(readdirSync(join(home, 'data'))).toEqual([])
  })

  test('removes the temporary folders of attempts that were killed, and no others', async () => {
    writeProgram('initdb', 'exit 0')
    const data = join(home, 'data')
    for (const name of ['.new-pg18-abc', '.new-pg17-abc', 'journal']) {
      mkdirSync(join(data, name), { recursive: true })
    }
    await create(join(data, 'pg18'))
    expect(readdirSync(data).sort()).toEqual(['.new-pg17-abc', 'journal', 'pg18'])
  })
})

describe('the access rules', () => {
  test('let in the current user by peer authentication, and report only a change', () => {
    expect(writeAccessRules(home, own)).toBe(true)
    expect(readFileSync(join(home, 'pg_hba.conf'), 'utf8')).toBe('local all all peer map=own\n')
    expect(readFileSync(join(home, 'pg_ident.conf'), 'utf8')).toBe(`own "${userInfo().username}" postgres\n`)
    expect(statSync(join(home, 'pg_hba.conf')).mode & 0o777).toBe(0o600)
    expect(writeAccessRules(home, own)).toBe(false)
    writeFileSync(join(home, 'pg_hba.conf'), 'local all all trust\n')
    expect(writeAccessRules(home, own)).toBe(true)
    expect(readFileSync(join(home, 'pg_hba.conf'), 'utf8')).toBe('local all all peer map=own\n')
  })

  test('are not written through a link that the account put in their place', () => {
    const target = join(home, 'target')
    writeFileSync(target, 'untouched')
    for (const name of ['pg_hba.conf', 'pg_hba.conf.new', 'pg_ident.conf']) {
      symlinkSync(target, join(home, name))
    }
    expect(writeAccessRules(home, own)).toBe(true)
    expect(readFileSync(target, 'utf8')).toBe('untouched')
    expect(readFileSync(join(home, 'pg_hba.conf'), 'utf8')).toBe('local all all peer map=own\n')
  })
})

describe('the socket folder', () => {
  test('is emptied and closed to other users', () => {
    const dir = join(home, 'socket')
    mkdirSync(dir)
    chmodSync(dir, 0o755)
    writeFileSync(join(dir, '.s.PGSQL.5432.lock'), '1')
    prepareSocketFolder(dir, own)
    expect([readdirSync(dir), statSync(dir).mode & 0o777]).toEqual([[], 0o700])
  })

  test('is rejected if it is a link or a file', () => {
    const target = join(home, 'target')
    mkdirSync(target)
    writeFileSync(join(target, 'kept'), '')
    symlinkSync(target, join(home, 'link'))
    expect(() => prepareSocketFolder(join(home, 'link'), own)).toThrow('belongs to another user')
    expect(existsSync(join(target, 'kept'))).toBe(true)
  })

  test('has a path that fits into a socket address, however long the temporary folder', () => {
    const short = chooseSocketFolder(own, 'abcdef012345')
    expect(short).toBe(join(tmpdir(), `rideau-${own.uid}-abcdef012345`))
    const before = process.env.TMPDIR
    process.env.TMPDIR = `/tmp/${'long'.repeat(30)}`
    try {
      expect(chooseSocketFolder(own, 'abcdef012345')).toBe(`/tmp/rideau-${own.uid}-abcdef012345`)
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
  })
})

describe('the account', () => {
  test('is an ordinary user itself; for root it is one that nothing else runs as', () => {
    const { uid, gid, switched } = chooseAccount(join(home, 'missing'), () => users(PASSWD))
    if (own.uid !== 0) expect([uid, gid, switched]).toEqual([own.uid, own.gid, false])
    else {
      expect([gid, switched]).toEqual([uid, true])
      expect(uid).toBeGreaterThanOrEqual(60_706)
      expect(uid).toBeLessThanOrEqual(61_183)
    }
    expect(spawnAs(own)).toEqual({})
    expect(spawnAs(stranger)).toEqual({ uid: stranger.uid, gid: stranger.gid })
  })

  test.runIf(isRoot)('of root is the owner of the folder, but neither nobody nor root', () => {
    const choose = () => chooseAccount(home, () => users(`${PASSWD}rideau:x:998:997::/:/sbin/nologin\n`))
    expect(choose()).toEqual({ uid: 998, gid: 997, switched: true })
    chownSync(home, 65_534, 65_534)
    expect(choose()).toEqual({ uid: 998, gid: 997, switched: true })
    chownSync(home, 1234, 1235)
    expect(choose()).toEqual({ uid: 1234, gid: 1235, switched: true })
  })

  test.runIf(isRoot)('of root is no rideau that is root or nobody, and no id that is used', () => {
    for (const id of [0, 65_534]) {
      const { uid } = chooseAccount(join(home, 'new'), () => users(`rideau:x:${id}:${id}::/:/bin/sh\n`))
      expect(uid).toBeGreaterThanOrEqual(60_706)
    }
    const used = new Set<number>()
    const dir = join(home, 'new')
    for (let i = 0; i < 478; i++) used.add(chooseAccount(dir, () => ({ named: [], usedIds: used })).uid)
    expect([used.size, Math.min(...used), Math.max(...used)]).toEqual([478, 60_706, 61_183])
    expect(() => chooseAccount(dir, () => ({ named: [], usedIds: used }))).toThrow(
      'no user id is free for the embedded PostgreSQL: add a user rideau, or set DATABASE_URL',
    )
  })

  test('creates the cluster if it has a name, and lends its group to another one otherwise', () => {
    const creatorIn = (passwd: string) => chooseCreator(stranger, () => users(passwd))
    expect(chooseCreator(own, () => users(''))).toBe(own)
    expect(creatorIn(`x:x:${stranger.uid}:5::/:\n`)).toBe(stranger)
    expect(creatorIn(PASSWD)).toEqual({ uid: 65_534, gid: stranger.gid, switched: true })
    expect(creatorIn('root:x:0:0::/:\nbin:x:1:1::/:\n')).toEqual({ ...stranger, uid: 1 })
    expect(() => creatorIn('root:x:0:0::/:\n+nis\n')).toThrow(
      'add the line rideau:x:4000000:4000000::/nonexistent:/sbin/nologin, or set DATABASE_URL',
    )
  })

  test('reaches a path only if every folder above it lets it in', () => {
    const dir = join(home, 'a', 'b')
    mkdirSync(dir, { recursive: true })
    for (const each of [home, join(home, 'a'), dir]) chmodSync(each, 0o755)
    expect(canReach(dir, stranger)).toBe(true)
    chmodSync(join(home, 'a'), 0o700)
    expect(canReach(dir, stranger)).toBe(false)
    expect(canReach(home, stranger)).toBe(true)
    expect(canReach(dir, own)).toBe(true)
  })

  test('finds the cluster as its working folder if it cannot reach it', () => {
    expect(locateCluster('/data/pg18', true)).toEqual({ argument: '/data/pg18', cwd: '/' })
    expect(locateCluster('/data/pg18', false)).toEqual({ argument: '/proc/self/cwd', cwd: '/data/pg18' })
  })

  test('is explained if it cannot be switched to; other failures stay as they are', () => {
    const denied = Object.assign(new Error('spawn EPERM'), { code: 'EPERM' })
    expect(toSwitchError(denied, stranger).message).toContain('run as an ordinary user, or set DATABASE_URL')
    expect(toSwitchError(denied, own)).toBe(denied)
    const missing = Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' })
    expect(toSwitchError(missing, stranger)).toBe(missing)
    expect(toSwitchError('text', stranger).message).toBe('text')
  })
})

describe.runIf(isRoot)('the owner of a cluster', () => {
  const to: Account = { uid: 60_800, gid: 60_801, switched: true }
  const from = 65_534
  let cluster: string
  beforeEach(() => {
    cluster = join(home, 'pg18')
    mkdirSync(join(cluster, 'base', '1'), { recursive: true })
    writeFileSync(join(cluster, 'base', '1', 'rows'), 'rows')
    writeFileSync(join(cluster, 'written-by-root'), '')
    for (const name of ['', 'base', 'base/1', 'base/1/rows']) chownSync(join(cluster, name), from, from)
    chmodSync(cluster, 0o755)
  })
  const ownerOf = (name: string) => {
    const { uid, gid } = lstatSync(join(cluster, name))
    return [uid, gid]
  }

  test('changes for everything in it, and the folder is closed to others', () => {
    changeOwner(cluster, from, to)
    for (const name of ['', 'base', 'base/1', 'base/1/rows', 'written-by-root']) {
      expect(ownerOf(name)).toEqual([to.uid, to.gid])
    }
    expect(statSync(cluster).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(cluster, 'base', '1', 'rows'), 'utf8')).toBe('rows')
  })

  test('stays that of root if something else is in it, and changes once that is gone', () => {
    const outside = join(home, 'outside')
    writeFileSync(outside, 'secret')
    const planted = join(cluster, 'base', 'planted')
    const cases: [() => void, RegExp][] = [
      [() => symlinkSync(outside, planted), /base\/planted is neither a folder nor a file/],
      [() => symlinkSync(home, planted), /is neither a folder nor a file/],
      [() => linkSync(outside, planted), /base\/planted is linked from elsewhere too/],
      [() => writeFileSync(planted, ''), /base\/planted belongs to uid 4000000/],
    ]
    for (const [plant, message] of cases) {
      plant()
      if (message.source.includes('4000000')) chownSync(planted, 4_000_000, 0)
      const { uid } = statSync(cluster)
      expect(() => changeOwner(cluster, uid, to)).toThrow(message)
      expect(ownerOf('')).toEqual([0, 0])
      expect(statSync(cluster).mode & 0o777).toBe(0o700)
      expect([statSync(outside).uid, statSync(home).uid]).toEqual([0, 0])
      rmSync(planted)
    }
    changeOwner(cluster, 0, to)
    expect([ownerOf(''), ownerOf('base/1/rows')]).toEqual(Array(2).fill([to.uid, to.gid]))
  })

  test('does not change if the folder is a link, or now belongs to another user', () => {
    symlinkSync(cluster, join(home, 'link'))
    expect(() => changeOwner(join(home, 'link'), from, to)).toThrow('link is not a folder')
    expect(() => changeOwner(cluster, 1234, to)).toThrow('pg18 belongs to uid 65534')
    expect(ownerOf('')).toEqual([from, from])
  })
})

describe('waiting', () => {
  test('returns the first value that is neither undefined nor false', async () => {
    const values = [undefined, false, 0]
    expect(await waitFor(async () => values.shift() as number | undefined | false, 10_000, 1)).toBe(0)
  })

  test('returns undefined at the end of its time, after at least one call', async () => {
    let calls = 0
    const probe = (): undefined => void calls++
    expect(await waitFor(probe, -1)).toBeUndefined()
    expect(calls).toBe(1)
  })

  test('rejects as soon as the probe does', async () => {
    await expect(
      waitFor(() => {
        throw new Error('broken')
      }, 10_000),
    ).rejects.toThrow('broken')
  })
})
