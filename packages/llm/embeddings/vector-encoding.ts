import type { Vector } from './embedding-format.ts'

/** A vector in the form that the caller asked for. Base64 holds little-endian 32-bit floats, as OpenAI's clients read it. */
export function encodeVector(vector: Vector, encoding: 'float' | 'base64'): Vector {
  if (encoding === 'base64') return typeof vector === 'string' ? vector : toBase64(vector)
  return typeof vector === 'string' ? fromBase64(vector) : vector
}

function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

function fromBase64(text: string): number[] {
  const bytes = Buffer.from(text, 'base64')
  const vector: number[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) vector.push(bytes.readFloatLE(at))
  return vector
}

/** Base64 of signed bytes, which some models' vectors are. */
export function fromInt8(text: string): number[] {
  const bytes = Buffer.from(text, 'base64')
  return Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length))
}
