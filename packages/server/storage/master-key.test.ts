import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../core/chance.ts'
import { openSecretBox } from '../core/secret-box.ts'
import { beginKeyChange, endKeyChange, findOrCreateMasterKeys, openFileSecretBox } from './master-key.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rideau-key-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const find = (dir = home): Buffer => findOrCreateMasterKeys(dir, systemRandom).current

describe('the master key', () => {
  test('is made once, for its owner alone, and found again', () => {
    const dir = join(home, 'data')
    const key = find(dir)
    expect(key).toHaveLength(32)
    expect(find(dir).equals(key)).toBe(true)
    expect(statSync(join(dir, 'master.key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dir, 'master.key'), 'utf8')).toBe(`${key.toString('base64')}\n`)
    expect(readdirSync(dir)).toEqual(['master.key'])
  })

  test.each(['', 'short\n', `${'A'.repeat(44)}A\n`, `${Buffer.alloc(31).toString('base64')}\n`])(
    'a file out of form (%j) is refused and stays as it is',
    content => {
      writeFileSync(join(home, 'master.key'), content)
      expect(() => find()).toThrow('holds no master key')
      expect(readFileSync(join(home, 'master.key'), 'utf8')).toBe(content)
    },
  )
})

describe('a change of the key', () => {
  test('keeps the old one beside the new until it is ended', () => {
    const old = find()
    const { current, former } = beginKeyChange(home, systemRandom)
    expect(former.equals(old)).toBe(true)
    expect(current.equals(old)).toBe(false)
    expect(findOrCreateMasterKeys(home, systemRandom)).toEqual({ current, former: old })
    expect(statSync(join(home, 'master.key.former')).mode & 0o777).toBe(0o600)
    endKeyChange(home)
    expect(findOrCreateMasterKeys(home, systemRandom)).toEqual({ current, former: undefined })
    expect(readdirSync(home)).toEqual(['master.key'])
  })

  test('that was interrupted is taken up, not begun anew', () => {
    const old = find()
    const begun = beginKeyChange(home, systemRandom)
    expect(beginKeyChange(home, systemRandom)).toEqual({ ...begun, former: old })
  })

  test('that was interrupted before the new key had its place begins with the old one', () => {
    const old = find()
    writeFileSync(join(home, 'master.key.former'), `${old.toString('base64')}\n`)
    expect(findOrCreateMasterKeys(home, systemRandom)).toEqual({ current: old, former: undefined })
    const { current, former } = beginKeyChange(home, systemRandom)
    expect([former.equals(old), current.equals(old)]).toEqual([true, false])
  })
})

describe('a box over the key files', () => {
  test('seals under the new key from the change on, and opens what either sealed', () => {
    const running = openFileSecretBox(home, systemRandom)
    const before = running.seal('old secret', 'row')
    const { current } = beginKeyChange(home, systemRandom)
    const elsewhere = openSecretBox(current, systemRandom)
    expect(running.open(elsewhere.seal('new secret', 'row'), 'row')).toBe('new secret')
    expect(running.open(before, 'row')).toBe('old secret')
    expect(elsewhere.open(running.seal('newer secret', 'row'), 'row')).toBe('newer secret')
  })

  test('that never looked since seals under the new key all the same', () => {
    const running = openFileSecretBox(home, systemRandom)
    const { current } = beginKeyChange(home, systemRandom)
    endKeyChange(home)
    expect(openSecretBox(current, systemRandom).open(running.seal('s', 'row'), 'row')).toBe('s')
    expect(existsSync(join(home, 'master.key.former'))).toBe(false)
  })

  test('still refuses what no key of the files sealed', () => {
    const running = openFileSecretBox(home, systemRandom)
    const stranger = openSecretBox(Buffer.alloc(32, 1), systemRandom)
    expect(() => running.open(stranger.seal('s', 'row'), 'row')).toThrow('another master key')
  })
})
