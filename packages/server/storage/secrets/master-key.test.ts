import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { buildProgram, programFolder, runProgram } from '../../testing/harness/child-program.ts'
import {
  beginMasterKeyRotation,
  endMasterKeyRotation,
  getOrCreateMasterKeys,
  openFileSecretBox,
} from './master-key.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rideau-key-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const findKey = (dir = home): Buffer => getOrCreateMasterKeys(dir, systemRandom).current

describe('the master key', () => {
  test('is created once with mode 0600, and found afterwards', () => {
    const dir = join(home, 'data')
    const key = findKey(dir)
    expect(key).toHaveLength(32)
    expect(findKey(dir).equals(key)).toBe(true)
    expect(statSync(join(dir, 'master.key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dir, 'master.key'), 'utf8')).toBe(`${key.toString('base64')}\n`)
    expect(readdirSync(dir)).toEqual(['master.key'])
  })

  test.each(['', 'short\n', `${'A'.repeat(44)}A\n`, `${Buffer.alloc(31).toString('base64')}\n`])(
    'rejects a file that holds %j, and does not change it',
    content => {
      writeFileSync(join(home, 'master.key'), content)
      expect(() => findKey()).toThrow('holds no master key')
      expect(readFileSync(join(home, 'master.key'), 'utf8')).toBe(content)
    },
  )
})

describe('a rotation of the key', () => {
  test('keeps the previous key beside the new one until it is ended', () => {
    const old = findKey()
    const { current, previous } = beginMasterKeyRotation(home, systemRandom)
    expect(previous.equals(old)).toBe(true)
    expect(current.equals(old)).toBe(false)
    expect(getOrCreateMasterKeys(home, systemRandom)).toEqual({ current, previous: old })
    expect(statSync(join(home, 'master.key.former')).mode & 0o777).toBe(0o600)
    endMasterKeyRotation(home)
    expect(getOrCreateMasterKeys(home, systemRandom)).toEqual({ current, previous: undefined })
    expect(readdirSync(home)).toEqual(['master.key'])
  })

  test('continues with the same two keys after an interruption', () => {
    const old = findKey()
    const begun = beginMasterKeyRotation(home, systemRandom)
    expect(beginMasterKeyRotation(home, systemRandom)).toEqual({ ...begun, previous: old })
  })

  test('starts again from the old key if it was interrupted before the new key was in place', () => {
    const old = findKey()
    writeFileSync(join(home, 'master.key.former'), `${old.toString('base64')}\n`)
    expect(getOrCreateMasterKeys(home, systemRandom)).toEqual({ current: old, previous: undefined })
    const { current, previous } = beginMasterKeyRotation(home, systemRandom)
    expect([previous.equals(old), current.equals(old)]).toEqual([true, false])
  })
})

describe('a secret box over the key files', () => {
  test('encrypts under the new key after a rotation began, and decrypts what either key encrypted', () => {
    const running = openFileSecretBox(home, systemRandom)
    const before = running.seal('old secret', 'row')
    const { current } = beginMasterKeyRotation(home, systemRandom)
    const elsewhere = openSecretBox(current, systemRandom)
    expect(running.open(elsewhere.seal('new secret', 'row'), 'row')).toBe('new secret')
    expect(running.open(before, 'row')).toBe('old secret')
    expect(elsewhere.open(running.seal('newer secret', 'row'), 'row')).toBe('newer secret')
  })

  test('encrypts under the new key even if it was not used during the rotation', () => {
    const running = openFileSecretBox(home, systemRandom)
    const { current } = beginMasterKeyRotation(home, systemRandom)
    endMasterKeyRotation(home)
    expect(openSecretBox(current, systemRandom).open(running.seal('s', 'row'), 'row')).toBe('s')
    expect(existsSync(join(home, 'master.key.former'))).toBe(false)
  })

  test('rejects a secret that neither key encrypted', () => {
    const running = openFileSecretBox(home, systemRandom)
    const stranger = openSecretBox(Buffer.alloc(32, 1), systemRandom)
    expect(() => running.open(stranger.seal('s', 'row'), 'row')).toThrow('another master key')
  })
})

describe('the files of the master key', () => {
  const path = (name = 'master.key'): string => join(home, name)
  const modeOf = (file: string): number => statSync(file).mode & 0o777

  test('keep mode 0600 after each step of a rotation', () => {
    findKey()
    for (let round = 0; round < 2; round++) {
      beginMasterKeyRotation(home, systemRandom)
      expect([modeOf(path()), modeOf(path('master.key.former'))]).toEqual([0o600, 0o600])
      endMasterKeyRotation(home)
      expect(readdirSync(home)).toEqual(['master.key'])
    }
  })

  test('are the only ones left: a temporary file of a killed process is replaced', () => {
    writeFileSync(path(`master.key.${process.pid}.new`), 'half a key')
    const key = findKey()
    expect(key).toHaveLength(32)
    expect(readdirSync(home)).toEqual(['master.key'])
  })

  test('created by eight processes at once hold one key, with mode 0600 whatever the umask', async () => {
    const dir = programFolder('master-key')
    const dataDir = join(home, 'deep', 'data')
    const program = join(dir, 'program.mjs')
    await buildProgram(
      `import { systemRandom } from './packages/server/core/random.ts'
      import { getOrCreateMasterKeys } from './packages/server/storage/secrets/master-key.ts'
      process.umask(0)
      console.log(getOrCreateMasterKeys(process.argv[2] as string, systemRandom).current.toString('base64'))`,
      program,
    )
    try {
      const children = Array.from({ length: 8 }, () => runProgram(program, [dataDir]))
      const keys = await Promise.all(children.map(child => child.nextLine()))
      await Promise.all(children.map(child => child.ended))
      expect(new Set(keys)).toEqual(new Set([findKey(dataDir).toString('base64')]))
      expect(readdirSync(dataDir)).toEqual(['master.key'])
      expect([modeOf(dataDir), modeOf(join(dataDir, 'master.key'))]).toEqual([0o700, 0o600])
    } finally {
      rmSync(dir, { recursive: true })
    }
  })

  test('lose no key if a rotation is killed at any step', () => {
    const old = findKey()
    const rotated = (): Buffer[] => {
      const { current, previous } = beginMasterKeyRotation(home, systemRandom)
      return [current, previous]
    }
    // Killed after the link, before the rename: both names hold the old key.
    linkSync(path(), path('master.key.former'))
    expect(getOrCreateMasterKeys(home, systemRandom)).toEqual({ current: old, previous: undefined })
    const [current, previous] = rotated() as [Buffer, Buffer]
    expect([previous.equals(old), current.equals(old)]).toEqual([true, false])
    // Killed after the rename, before the end: the same two keys again.
    expect(rotated()).toEqual([current, previous])
    endMasterKeyRotation(home)
    endMasterKeyRotation(home)
    expect(getOrCreateMasterKeys(home, systemRandom)).toEqual({ current, previous: undefined })
  })

  test('stop the start and are not replaced if they are not readable', () => {
    mkdirSync(path())
    expect(() => findKey()).toThrow('EISDIR')
    expect(statSync(path()).isDirectory()).toBe(true)
  })

  test('are rejected with their path if those of a rotation hold no key', () => {
    findKey()
    writeFileSync(path('master.key.former'), 'no key')
    expect(() => findKey()).toThrow(/master\.key\.former holds no master key .*RIDEAU_MASTER_KEY/)
  })
})
