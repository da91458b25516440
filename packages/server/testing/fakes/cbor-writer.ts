export type CborInput =
  | number
  | boolean
  | null
  | string
  | Buffer
  | readonly CborInput[]
  | Map<string | number, CborInput>

/** Encodes a value in CBOR, each number in the fewest bytes. */
export function encodeCbor(value: CborInput): Buffer {
  if (value === null) return Buffer.from([0xf6])
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4])
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value)
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'utf8')
    return Buffer.concat([cborHead(3, bytes.length), bytes])
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value])
  if (value instanceof Map) {
    const items = [...value].flatMap(([key, item]) => [encodeCbor(key), encodeCbor(item)])
    return Buffer.concat([cborHead(5, value.size), ...items])
  }
  return Buffer.concat([cborHead(4, value.length), ...value.map(encodeCbor)])
}

/** An item's head: its major type and a value, length or count. */
export function cborHead(major: number, value: number): Buffer {
  const size = [24, 2 ** 8, 2 ** 16, 2 ** 32].findIndex(limit => value < limit)
  if (size === 0) return Buffer.from([(major << 5) | value])
  const bytes = Buffer.alloc(9)
  bytes.writeBigUInt64BE(BigInt(value), 1)
  const length = size === -1 ? 8 : 2 ** (size - 1)
  const info = { 1: 24, 2: 25, 4: 26, 8: 27 }[length] ?? 27
  return Buffer.concat([Buffer.from([(major << 5) | info]), bytes.subarray(9 - length)])
}
