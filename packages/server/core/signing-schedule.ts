import type { JsonWebKey } from 'node:crypto'
import { MAX_TOKEN_SECONDS } from './client-token.ts'

/** A key that client tokens are signed by, or were, or will be. */
export interface SigningKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string
  readonly publicJwk: JsonWebKey
  /** From when on it signs, until the next one does. Unix milliseconds. */
  readonly activatesAt: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a key signs. */
const PERIOD_MS = 30 * DAY_MS
/** How long a key is published at least before it signs: whoever keeps a copy of the key set has it then. */
const NOTICE_MS = DAY_MS
/** How long a former key stays published: as long as its last token lives, and an hour for clocks and caches. */
const FORMER_MS = MAX_TOKEN_SECONDS * 1000 + HOUR_MS
/** How long a former key is known at all, so that a token which expired is told from one that is forged. */
const KNOWN_MS = PERIOD_MS

/** The key that signs at `now`. */
export function findCurrent<K extends SigningKey>(keys: readonly K[], now: number): K | undefined {
  return inOrder(keys).findLast(key => key.activatesAt <= now)
}

/** What others verify by: the next, the current, and former keys while a token of theirs may live. */
export function listPublished<K extends SigningKey>(keys: readonly K[], now: number): readonly K[] {
  return inOrder(keys).filter((_, index, all) => endOf(all, index) + FORMER_MS > now)
}

/** What the schedule asks for: when keys that are missing begin to sign, and which have had their time. */
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
  const former = ordered.filter(key => key.activatesAt < begun)
  return {
    activations: [...(current === undefined ? [now] : []), ...(hasNext ? [] : [next])],
    ended: former,
    forgotten: former.filter(key => endOf(ordered, ordered.indexOf(key)) + KNOWN_MS <= now),
  }
}

function inOrder<K extends SigningKey>(keys: readonly K[]): readonly K[] {
  return [...keys].sort((a, b) => a.activatesAt - b.activatesAt)
}

/** When the one after it takes over. */
function endOf(ordered: readonly SigningKey[], index: number): number {
  return ordered[index + 1]?.activatesAt ?? Number.POSITIVE_INFINITY
}
