import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Real and hostile objects in a folder beside the repository, in which each folder is a set. Not every machine has it. */
const FOLDER = new URL('../../../../../shared/attest/', import.meta.url)

/** The sets' files of this name, parsed. Empty, with a line that says how many objects are not tested, where there are none. */
export function readVectorFiles<T>(name: string, count: number): T[] {
  const sets = existsSync(FOLDER) ? readdirSync(FOLDER) : []
  const files = sets.map(set => new URL(`${set}/${name}`, FOLDER)).filter(file => existsSync(file))
  if (files.length === 0) console.log(`skipped: ../shared/attest has no ${name} (${count} objects)`)
  return files.map(file => JSON.parse(readFileSync(file, 'utf8')) as T)
}

/** The verdict in the words of the vectors, with the reason, so that a failed test shows it. */
export function toOutcome(verdict: { valid: true } | { valid: false; reason: string }): string {
  return verdict.valid ? 'accept' : `reject: ${verdict.reason}`
}
