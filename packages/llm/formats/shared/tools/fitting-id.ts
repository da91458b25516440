import { createHash } from 'node:crypto'

const FOREIGN = /[^a-zA-Z0-9_-]/
const EACH_FOREIGN = /[^a-zA-Z0-9_-]/g
/** The part of a longer id that is kept: replacing each character of megabytes takes seconds. */
const MAX_KEPT = 200

/** Returns true if the id has only letters, digits, `_` and `-`. */
export function isFittingId(id: string): boolean {
  return !FOREIGN.test(id)
}

/** The id with `_` for each other character; of a long one the beginning with a digest of all. */
export function replaceForeign(id: string): string {
  if (id.length <= MAX_KEPT) return id.replace(EACH_FOREIGN, '_')
  return withDigest(id)
}

/** The beginning of the id with `_` for each other character, and a digest: what is replaced alike stays different. */
export function withDigest(id: string): string {
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${id.slice(0, MAX_KEPT).replace(EACH_FOREIGN, '_')}_${digest}`
}
