import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { RecordLine } from '../core/records/request-record.ts'
import { openSetAside, setAsidePath } from './set-aside.ts'

const now = () => Date.parse('2026-11-21T10:00:00Z')
const line = (id: string, json = JSON.stringify({ id })): RecordLine => ({ id, at: '', json })
const folderOf = () => mkdtempSync(path.join(tmpdir(), 'rideau-aside-'))
const readLines = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(text => JSON.parse(text))

test('appends whole records with their reasons after those of an earlier run', () => {
  const folder = folderOf()
  openSetAside(folder, { now }).append([{ line: line('a'), reason: '22003: out of range' }])
  const aside = openSetAside(folder, { now })
  aside.append([])
  aside.append([
    { line: line('b'), reason: 'x' },
    { line: line('', 'no JSON\n'), reason: 'y' },
  ])
  const at = '2026-11-21T10:00:00.000Z'
  expect(readLines(setAsidePath(folder))).toEqual([
    { at, reason: '22003: out of range', record: { id: 'a' } },
    { at, reason: 'x', record: { id: 'b' } },
    { at, reason: 'y', record: 'no JSON\n' },
  ])
  expect(aside.count()).toBe(2)
  expect(statSync(setAsidePath(folder)).mode & 0o777).toBe(0o600)
})

test('keeps at most maxFiles files of at most maxFileBytes, with the newest records in the first', () => {
  const folder = folderOf()
  const aside = openSetAside(folder, { now, maxFileBytes: 500, maxFiles: 3 })
  for (let i = 0; i < 50; i++) aside.append([{ line: line(`r${i}`), reason: 'refused' }])
  expect(readdirSync(folder).sort()).toEqual([
    'refused-records.1.jsonl',
    'refused-records.2.jsonl',
    'refused-records.jsonl',
  ])
  for (const number of [0, 1, 2]) {
    expect(statSync(setAsidePath(folder, number)).size).toBeLessThanOrEqual(500)
  }
  expect(readLines(setAsidePath(folder)).at(-1).record).toEqual({ id: 'r49' })
})

test('creates no file without a refused record, and throws if the folder is missing', () => {
  const folder = folderOf()
  openSetAside(folder, { now })
  expect(existsSync(setAsidePath(folder))).toBe(false)
  const aside = openSetAside(path.join(folder, 'gone'), { now })
  expect(() => aside.append([{ line: line('a'), reason: 'x' }])).toThrow('ENOENT')
  expect(aside.count()).toBe(0)
})
