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
