import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../core/chance.ts'
import { findOrCreateMasterKey } from './master-key.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rideau-key-'))
})
afterEach(() => rmSync(home, { recursive: true }))

describe('the master key', () => {
  test('is made once, for its owner alone, and found again', () => {
    const dir = join(home, 'data')
    const key = findOrCreateMasterKey(dir, systemRandom)
    expect(key).toHaveLength(32)
    expect(findOrCreateMasterKey(dir, systemRandom).equals(key)).toBe(true)
    expect(statSync(join(dir, 'master.key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dir, 'master.key'), 'utf8')).toBe(`${key.toString('base64')}\n`)
    expect(readdirSync(dir)).toEqual(['master.key'])
  })

  test.each(['', 'short\n', `${'A'.repeat(44)}A\n`, `${Buffer.alloc(31).toString('base64')}\n`])(
    'a file out of form (%j) is refused and stays as it is',
    content => {
      writeFileSync(join(home, 'master.key'), content)
      expect(() => findOrCreateMasterKey(home, systemRandom)).toThrow('holds no master key')
      expect(readFileSync(join(home, 'master.key'), 'utf8')).toBe(content)
    },
  )
})
