import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { edit, Input } from './input.ts'

interface Target {
  readonly seeds: readonly Buffer[]
  fuzz(data: Buffer): void | Promise<void>
}

const folder = path.join(import.meta.dirname, 'targets')
const names = fs.readdirSync(folder).map(name => name.slice(0, -3))
const EDITS = 100

/** Bytes that look random and are the same in each run. */
function toProgram(number: number): Buffer {
  let state = number + 1
  return Buffer.from(
    Array.from({ length: 64 }, () => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state >> 16
    }),
  )
}

describe.each(names)('the fuzz target %s', name => {
  test('finds no broken guarantee in its seeds and in changes of them', async () => {
    const { seeds, fuzz } = (await import(path.join(folder, `${name}.ts`))) as Target
    expect(seeds.length).toBeGreaterThan(0)
    for (const seed of seeds) {
      await fuzz(seed)
      for (let number = 0; number < EDITS; number++) await fuzz(edit(seed, new Input(toProgram(number))))
    }
  })
})
