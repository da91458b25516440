/** Writes an element of DER. `tag` is one byte, or all bytes of a long tag. */
export function der(tag: number | readonly number[], ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag].flat()), toLength(content.length), content])
}

function toLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
export const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts)
export const octets = (bytes: Buffer | string): Buffer => der(0x04, Buffer.from(bytes))
export const bits = (bytes: Buffer, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes)
export const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]))
export const enumerated = (value: number): Buffer => der(0x0a, toInteger(value))
export const integer = (value: number | bigint): Buffer => der(0x02, toInteger(value))

function toInteger(value: number | bigint): Buffer {
  const hex = value.toString(16)
  const even = hex.padStart(hex.length + (hex.length % 2), '0')
  // A first bit that is set would make the number negative.
  return Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex')
}

/** An explicit, context-specific tag. */
export function explicit(number: number, content: Buffer): Buffer {
  return der(number < 31 ? 0xa0 | number : [0xbf, ...toBase128(number)], content)
}

export function objectIdentifier(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(toBase128)))
}

function toBase128(value: number): number[] {
  // Not by bits, which JavaScript cuts to 32.
  const last = value % 128
  return value < 0x80 ? [last] : [...toBase128(Math.floor(value / 128)).map(byte => byte | 0x80), last]
}

/** A time as a GeneralizedTime. */
export function generalizedTime(milliseconds: number): Buffer {
  return der(0x18, Buffer.from(new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '')))
}

/** A name of one part, its common name. */
export function commonName(name: string): Buffer {
  return sequence(set(sequence(objectIdentifier('2.5.4.3'), der(0x0c, Buffer.from(name)))))
}
