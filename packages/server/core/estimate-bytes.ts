import { ShortTicks } from './short-ticks.ts'

/** What an object, a text or an entry of a collection takes besides its content. */
const OVERHEAD = 24

/** Returns about how many bytes of memory a value takes, with everything that it holds. It must hold no cycles. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return OVERHEAD + 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  if (ArrayBuffer.isView(value)) return OVERHEAD + value.byteLength
  let bytes = OVERHEAD
  if (value instanceof Map) {
    for (const [key, item] of value) bytes += OVERHEAD + estimateBytes(key) + estimateBytes(item)
  } else if (value instanceof Set || Array.isArray(value)) {
    for (const item of value) bytes += estimateBytes(item)
  } else {
    for (const item of Object.values(value)) bytes += OVERHEAD + estimateBytes(item)
  }
  return bytes
}

/** How deep estimateBytesInTicks looks for parts that it may stop between: an environment has its rules in lists of its policies. */
const DEPTH = 3

/** Returns about what estimateBytes does, in short ticks. The value must not change meanwhile. */
export async function estimateBytesInTicks(value: object): Promise<number> {
  const ticks = new ShortTicks()
  let bytes = OVERHEAD
  for (const part of listParts(value, DEPTH)) {
    bytes += OVERHEAD + estimateBytes(part)
    if (ticks.isOver) await ticks.next()
  }
  return bytes
}

function* listParts(value: unknown, depth: number): Generator<unknown> {
  if (depth === 0 || typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) yield value
  else if (value instanceof Map) {
    for (const [key, item] of value) {
      yield key
      yield* listParts(item, depth - 1)
    }
  } else {
    const items = value instanceof Set || Array.isArray(value) ? value : Object.values(value)
    for (const item of items) yield* listParts(item, depth - 1)
  }
}
