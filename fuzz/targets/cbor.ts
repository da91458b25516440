import { decodeCbor, decodeCborAt } from '../../packages/server/identity/devices/encoding/cbor.ts'
import { InvalidDeviceError } from '../../packages/server/identity/devices/encoding/invalid-device-error.ts'
import { type CborInput, encodeCbor } from '../../packages/server/testing/fakes/cbor-writer.ts'
import { Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

export const seeds = [
  [
    '00',
    encodeCbor(
      new Map<string, CborInput>([
        ['fmt', 'x'],
        ['attStmt', new Map([['x5c', [Buffer.of(1)]]])],
      ]),
    ),
  ],
  ['00', encodeCbor([-1, 24, 256, 65536, 2 ** 40, 'h\u00e9', true, false, null])],
  [
    '00',
    encodeCbor(
      new Map<number, CborInput>([
        [1, 2],
        [-3, Buffer.alloc(32)],
      ]),
    ),
  ],
  ['01', Buffer.from('0405030102', 'hex')],
  ['0f', Buffer.from('81', 'hex')],
].map(([mode, bytes]) => Buffer.concat([Buffer.from(mode as string, 'hex'), bytes as Buffer]))

/** A value made of the fuzzer's bytes. */
function toValue(input: Input, depth: number): CborInput {
  const kind = input.byte() % (depth < 5 ? 8 : 6)
  const size = input.byte() % 24
  if (kind === 0)
    return input.word() * 2 ** (size * 1.5) > Number.MAX_SAFE_INTEGER
      ? size
      : Math.floor(input.word() * 2 ** size)
  if (kind === 1) return -1 - input.word()
  if (kind === 2) return size % 2 === 0
  if (kind === 3) return null
  if (kind === 4) return input.take(size).toString('utf8')
  if (kind === 5) return Buffer.from(input.take(size * 12))
  if (kind === 6) return Array.from({ length: size % 5 }, () => toValue(input, depth + 1))
  return new Map(
    Array.from({ length: size % 5 }, (_, index) => [
      index % 2 === 0 ? index : `k${index}`,
      toValue(input, depth + 1),
    ]),
  )
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mode = input.byte()
  if (mode % 16 === 15) {
    const bytes = repeat(input.rest(), 2000)
    assertLinear(bytes, 60, 8000, () => attempt(() => decodeCbor(bytes)))
    return
  }
  if (mode % 2 === 1) {
    const value = toValue(input, 0)
    const bytes = encodeCbor(value)
    const tail = input.rest()
    assertEqual(
      decodeCborAt(Buffer.concat([bytes, tail]), 0),
      { value, end: bytes.length },
      'what was encoded is decoded',
    )
    return
  }
  const bytes = input.rest()
  const { value, error } = attempt(() => decodeCbor(bytes)) as { value?: CborInput; error?: Error }
  if (error !== undefined)
    assert(error instanceof InvalidDeviceError, `a refusal and no other error: ${error.stack}`)
  else assertEqual(encodeCbor(value as CborInput), bytes, 'one value has one spelling')
}
