/** A credential or another choice with its share of the load. */
export interface Weighted {
  readonly id: string
  readonly weight: number
}

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Returns a 32-bit hash (FNV-1a) of at most `most` characters of the text, continued from another hash. */
export function hashText(text: string, most: number, from: number = FNV_OFFSET): number {
  let hash = from
  const end = Math.min(text.length, most)
  for (let at = 0; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash >>> 0
}

/**
 * Returns the choices in the order of weighted rendezvous hashing for this key: every process computes the same order,
 * keys are spread by the weights, and a choice that disappears moves only its own keys. A weight of 0 comes last.
 */
export function orderByRendezvous<T extends Weighted>(choices: readonly T[], key: number): readonly T[] {
  if (choices.length < 2) return choices
  return choices
    .map(choice => ({ choice, score: scoreOf(choice, key) }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ choice }) => choice)
}

function scoreOf({ id, weight }: Weighted, key: number): number {
  const share = (mix((mix(key) + hashText(id, id.length)) >>> 0) + 0.5) / 2 ** 32
  // Those without a weight keep an order among themselves, below all others.
  return weight > 0 ? -weight / Math.log(share) : -share
}

/** The finalizer of MurmurHash3: every bit of the input changes about half of the output's. */
function mix(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
