import {
  chmodSync,
  existsSync,
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
import { type Account, canReach, chooseAccount, spawnAs } from './account.ts'
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
  test('of an ordinary user is that user; of root it is the owner of the folder or nobody', () => {
    const { uid, switched } = chooseAccount(join(home, 'missing'))
    expect([uid, switched]).toEqual(own.uid === 0 ? [65_534, true] : [own.uid, false])
    expect(spawnAs(own)).toEqual({})
    expect(spawnAs(stranger)).toEqual({ uid: stranger.uid, gid: stranger.gid })
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

  test('that cannot reach the cluster finds it as its working folder', () => {
    expect(locateCluster('/data/pg18', true)).toEqual({ argument: '/data/pg18', cwd: '/' })
    expect(locateCluster('/data/pg18', false)).toEqual({ argument: '/proc/self/cwd', cwd: '/data/pg18' })
  })

  test('that cannot be switched to is explained; other failures stay as they are', () => {
    const denied = Object.assign(new Error('spawn EPERM'), { code: 'EPERM' })
    expect(toSwitchError(denied, stranger).message).toContain('run as an ordinary user, or set DATABASE_URL')
    expect(toSwitchError(denied, own)).toBe(denied)
    const missing = Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' })
    expect(toSwitchError(missing, stranger)).toBe(missing)
    expect(toSwitchError('text', stranger).message).toBe('text')
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
