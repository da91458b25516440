import { cutToJsonBytes } from './cut-text.ts'

/** What the marker of a cut list may take. */
const MARKER_BYTES = 40
const BRACKETS = 2
/** The bytes that the quotes of a text take. */
const QUOTES = 2

/**
 * Returns JSON that takes at most `bytes` bytes, from about 50 on, as text: long texts are cut with a marker, long lists end with a text that
 * says how many entries are left out, and short fields of an object stay whole before longer ones.
 */
export function cutJson(value: unknown, bytes: number): unknown {
  if (sizeOf(value) <= bytes) return value
  if (typeof value === 'string') return cutToJsonBytes(value, Math.max(bytes - QUOTES, 0))
  if (Array.isArray(value)) return cutList(value, bytes)
  if (typeof value === 'object' && value !== null) return cutObject(value, bytes)
  return value
}

function cutList(list: readonly unknown[], bytes: number): unknown[] {
  const kept: unknown[] = []
  let room = bytes - MARKER_BYTES - BRACKETS
  for (const entry of list) {
    room -= sizeOf(entry) + 1
    if (room < 0) break
    kept.push(entry)
  }
  kept.push(`… and ${list.length - kept.length} more`)
  return kept
}

function cutObject(object: object, bytes: number): object {
  const sizes = Object.entries(object).map(([name, value]) => ({ name, value, size: sizeOf(value) }))
  const bySize = sizes.toSorted((a, b) => a.size - b.size)
  const cut = new Map<string, unknown>()
  let room = bytes - BRACKETS
  for (const [index, { name, value, size }] of bySize.entries()) {
    const nameBytes = sizeOf(name) + 2
    const share = room / (bySize.length - index) - nameBytes
    if (share < MARKER_BYTES && size > share) continue
    const kept = cutJson(value, share)
    cut.set(name, kept)
    room -= nameBytes + sizeOf(kept)
  }
  // In the order of the fields.
  return Object.fromEntries(
    sizes.filter(({ name }) => cut.has(name)).map(({ name }) => [name, cut.get(name)]),
  )
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}
