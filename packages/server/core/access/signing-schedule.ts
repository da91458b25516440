import type { JsonWebKey } from 'node:crypto'
import { MAX_TOKEN_SECONDS } from './client-token.ts'

/** A key that signs client tokens now, did so before or will later. */
export interface SigningKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string
  readonly publicJwk: JsonWebKey
  /** When it begins to sign; it signs until the next key begins. Unix milliseconds. */
  readonly activatesAt: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a key signs. */
const PERIOD_MS = 30 * DAY_MS
/** The least time that a key is published before it signs, so that cached copies of the key set contain it. */
const NOTICE_MS = DAY_MS
/** How long a previous key stays published: as long as its last token lives, and an hour for clocks and caches. */
const PUBLISHED_AFTER_MS = MAX_TOKEN_SECONDS * 1000 + HOUR_MS
/** How long a previous key is kept, so that an expired token can be distinguished from a forged one. */
const KNOWN_MS = PERIOD_MS

/** Returns the key that signs at `now`. */
export function findCurrent<K extends SigningKey>(keys: readonly K[], now: number): K | undefined {
  return inOrder(keys).findLast(key => key.activatesAt <= now)
}

/** Returns the keys to publish: the next, the current, and previous ones whose tokens may still be valid. */
export function listPublished<K extends SigningKey>(keys: readonly K[], now: number): readonly K[] {
  return inOrder(keys).filter((_, index, all) => endOf(all, index) + PUBLISHED_AFTER_MS > now)
}

/** Returns when missing keys begin to sign, which keys no longer sign, and which of those can be deleted. */
export function planRotation<K extends SigningKey>(
  keys: readonly K[],
  now: number,
): {
  readonly activations: readonly number[]
  readonly ended: readonly K[]
  readonly forgotten: readonly K[]
} {
  const ordered = inOrder(keys)
  const current = findCurrent(ordered, now)
  const begun = current?.activatesAt ?? now
  const hasNext = ordered.some(key => key.activatesAt > now)
  const next = Math.max(begun + PERIOD_MS, now + NOTICE_MS)
  const previous = ordered.filter(key => key.activatesAt < begun)
  return {
    activations: [...(current === undefined ? [now] : []), ...(hasNext ? [] : [next])],
    ended: previous,
    forgotten: previous.filter(key => endOf(ordered, ordered.indexOf(key)) + KNOWN_MS <= now),
  }
}

function inOrder<K extends SigningKey>(keys: readonly K[]): readonly K[] {
  return [...keys].sort((a, b) => a.activatesAt - b.activatesAt)
}

/** Returns when the next key takes over. */
function endOf(ordered: readonly SigningKey[], index: number): number {
  return ordered[index + 1]?.activatesAt ?? Number.POSITIVE_INFINITY
}
