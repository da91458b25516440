import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from './build.mjs'
import { findLookups, readOptions } from './client-types/find-lookups.mjs'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-lookups-'))

afterAll(() => {
  fs.rmSync(folder, { recursive: true })
})

const SHARED = `export const TABLE: Readonly<Record<string, number>> = { a: 1 }
export const CLOSED = { a: 1, b: 2 }
`
const BREACHES = [
  'export const read = (word: string) => TABLE[word]',
  'export const read = (word: string) => TABLE?.[word]',
  'const OWN: Record<string, number> = { a: 1 }\nexport const read = (word: string | undefined) => OWN[word ?? ""]',
  'export const read = (word: string) => CLOSED[word as keyof typeof CLOSED]',
  'export const has = (word: string) => word in CLOSED',
  'export function copy(words: string[]) {\n  const made: Record<string, number> = {}\n  for (const word of words) made[word] = 1\n  return made\n}',
  'export function merge(a: Record<string, number>, word: string) {\n  const made = { ...a }\n  made[word] = 1\n  return made\n}',
]
const KEPT = [
  'export const read = (word: "a" | "b") => CLOSED[word]',
  'export const read = (word: string) => new Map([["a", 1]]).get(word)',
  'const OWN: Record<string, number> = Object.assign(Object.create(null), { a: 1 })\nexport const read = (word: string) => OWN[word]',
  'export const read = (list: number[], at: number) => list[at]',
  'export const has = () => "a" in TABLE',
]

test('finds every object literal that an arbitrary string indexes, and nothing else', () => {
  fs.writeFileSync(path.join(folder, 'tables.ts'), SHARED)
  const write = (text: string, at: number, kind: string): string => {
    const file = path.join(folder, `${kind}-${at}.ts`)
    fs.writeFileSync(
      file,
      `import { CLOSED, TABLE } from './tables.ts'\nexport const used = [CLOSED, TABLE]\n${text}\n`,
    )
    return file
  }
  const breaches = BREACHES.map((text, at) => write(text, at, 'breach'))
  const kept = KEPT.map((text, at) => write(text, at, 'kept'))
  const found = findLookups([...breaches, ...kept], { ...readOptions(root), types: [] })
  expect(found.map(each => each.replace(/:\d+: .*/s, ''))).toEqual(breaches)
})
