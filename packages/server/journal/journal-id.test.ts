import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openJournalId } from './journal-id.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-journal-id-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

test('the id of a journal is made once, for its owner only', () => {
  const id = openJournalId(dataDir)
  expect(id).toHaveLength(36)
  expect(openJournalId(dataDir)).toBe(id)
  expect(statSync(path.join(dataDir, 'journal.id')).mode & 0o777).toBe(0o600)
})

test('an id that a power cut has left empty is made again', () => {
  writeFileSync(path.join(dataDir, 'journal.id'), '')
  const id = openJournalId(dataDir)
  expect(id).toHaveLength(36)
  expect(openJournalId(dataDir)).toBe(id)
})
