import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const FILE = 'journal.id'
const ID = /^[0-9a-f-]{36}$/

/** Returns the id of the journal in this data folder, by which its process excludes others. Makes it where it is missing. */
export function openJournalId(dataDir: string): string {
  const file = path.join(dataDir, FILE)
  try {
    writeFileSync(file, randomUUID(), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const id = readFileSync(file, 'utf8')
  if (ID.test(id)) return id
  // A power cut has left it empty.
  writeFileSync(file, randomUUID())
  return readFileSync(file, 'utf8')
}
