import { InvalidDeviceError } from './invalid-device-error.ts'

/** An element of DER (X.690). Its buffers share the input's memory. */
export interface DerElement {
  /** The first byte: class, constructed or not, and the tag number if that is below 31. */
  readonly tag: number
  /** The tag number, also if it stands in bytes of its own. */
  readonly number: number
  readonly content: Buffer
  /** With tag and length. */
  readonly whole: Buffer
}

const BOOLEAN = 0x01
export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OCTET_STRING = 0x04
export const OBJECT_IDENTIFIER = 0x06
export const ENUMERATED = 0x0a
export const UTC_TIME = 0x17
export const GENERALIZED_TIME = 0x18
export const SEQUENCE = 0x30
export const SET = 0x31

/** More than any list in a certificate has. */
const MAX_ELEMENTS = 256

/** Reads the elements that fill the bytes. Throws InvalidDeviceError if they are cut, have a length that is not DER, or are too many. */
export function readElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = []
  for (let offset = 0; offset < bytes.length; ) {
    if (elements.length === MAX_ELEMENTS) throw invalid('a list has too many elements')
    const element = readElementAt(bytes, offset)
    elements.push(element)
    offset += element.whole.length
  }
  return elements
}

/** Reads the one element with this tag that fills the bytes. */
export function readElement(bytes: Buffer, tag: number): DerElement {
  const element = readElementAt(bytes, 0)
  if (element.whole.length !== bytes.length) throw invalid('bytes follow an element')
  return expectTag(element, tag)
}

/** Reads the elements of a list (SEQUENCE or SET) that fills the bytes. */
export function readList(bytes: Buffer, tag: number): DerElement[] {
  return readElements(readElement(bytes, tag).content)
}

/** Returns the element if it has this tag. */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  if (element?.tag !== tag) throw invalid(`an element with tag ${tag} is missing`)
  return element
}

/** Returns a whole number from 0 to 2^47, of an INTEGER or an ENUMERATED. */
export function toNumber(element: DerElement | undefined, tag: number): number {
  const { content } = expectTag(element, tag)
  const [first = 0x80, second = 0] = content
  if (content.length > 6 || first >= 0x80) throw invalid('a number is negative or too large')
  if (content.length > 1 && first === 0 && second < 0x80) throw invalid('a number has a leading zero')
  return content.readUIntBE(0, content.length)
}

/** A BOOLEAN has exactly two spellings. */
export function toBoolean(element: DerElement | undefined): boolean {
  const { content } = expectTag(element, BOOLEAN)
  const [byte] = content
  if (content.length !== 1 || (byte !== 0 && byte !== 0xff)) throw invalid('a BOOLEAN is malformed')
  return byte === 0xff
}

/** Returns an OBJECT IDENTIFIER with dots. */
export function toObjectIdentifier(element: DerElement | undefined): string {
  const { content } = expectTag(element, OBJECT_IDENTIFIER)
  if (content.length === 0 || content.length > 32) throw invalid('an object identifier is malformed')
  const parts: number[] = []
  for (let offset = 0; offset < content.length; ) {
    const { value, end } = readBase128(content, offset)
    parts.push(value)
    offset = end
  }
  const [head = 0, ...rest] = parts
  const first = Math.min(Math.floor(head / 40), 2)
  return [first, head - first * 40, ...rest].join('.')
}

function readElementAt(bytes: Buffer, start: number): DerElement {
  const tag = byteAt(bytes, start)
  const isLong = (tag & 0x1f) === 0x1f
  const { value: number, end: lengthAt } = isLong
    ? readBase128(bytes, start + 1)
    : { value: tag & 0x1f, end: start + 1 }
  if (isLong && number < 31) throw invalid('a tag takes more bytes than it needs')
  const { value: length, end: contentAt } = readLength(bytes, lengthAt)
  if (length > bytes.length - contentAt) throw invalid('an element is cut')
  const end = contentAt + length
  return { tag, number, content: bytes.subarray(contentAt, end), whole: bytes.subarray(start, end) }
}

function readLength(bytes: Buffer, offset: number): { value: number; end: number } {
  const first = byteAt(bytes, offset)
  if (first < 0x80) return { value: first, end: offset + 1 }
  const size = first & 0x7f
  // 0 is an indefinite length. Nothing here is longer than three bytes can say.
  if (size === 0 || size > 3) throw invalid('a length is malformed')
  byteAt(bytes, offset + size)
  const value = bytes.readUIntBE(offset + 1, size)
  if (value < 0x80 || value < 256 ** (size - 1)) throw invalid('a length takes more bytes than it needs')
  return { value, end: offset + 1 + size }
}

/** A number in groups of seven bits, of at most seven bytes. */
function readBase128(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0
  for (let offset = start; offset < start + 7; offset++) {
    const byte = byteAt(bytes, offset)
    if (offset === start && byte === 0x80) throw invalid('a number has a leading zero')
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: offset + 1 }
  }
  throw invalid('a number is too large')
}

function byteAt(bytes: Buffer, offset: number): number {
  const byte = bytes[offset]
  if (byte === undefined) throw invalid('an element is cut')
  return byte
}

function invalid(problem: string): InvalidDeviceError {
  return new InvalidDeviceError(`DER: ${problem}.`)
}
