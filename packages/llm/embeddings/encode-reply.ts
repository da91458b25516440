import type { Vector } from './embedding-format.ts'
import { encodeVector } from './vector-encoding.ts'

type Encoding = 'float' | 'base64'
/** The JSON before and after a vector. */
type Around = readonly [before: string, after: string]

/** Returns the JSON of a body: the fields of `before`, the field `name` with the JSON `value`, and the fields of `after`. */
export function encodeBody(before: object, name: string, value: readonly Buffer[], after: object): Buffer {
  const head = JSON.stringify(before).slice(0, -1)
  const tail = JSON.stringify(after).slice(1)
  const begin = `${head}${head === '{' ? '' : ','}${JSON.stringify(name)}:`
  return Buffer.concat([Buffer.from(begin), ...value, Buffer.from(tail === '}' ? tail : `,${tail}`)])
}

/** Encodes a list of vectors, each with the JSON around it. Yields after each piece. */
export function* encodeVectors(
  vectors: readonly Vector[],
  encoding: Encoding,
  toAround: (index: number) => Around = () => ['', ''],
): Generator<void, Buffer[]> {
  const pieces: Buffer[] = []
  for (const [index, vector] of vectors.entries()) {
    const [before, after] = toAround(index)
    pieces.push(Buffer.from(`${index === 0 ? '[' : ','}${before}`))
    for (const piece of yield* encodeVector(vector, encoding)) pieces.push(piece)
    pieces.push(Buffer.from(after))
  }
  pieces.push(Buffer.from(vectors.length === 0 ? '[]' : ']'))
  return pieces
}
