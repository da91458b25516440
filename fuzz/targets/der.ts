import { parseKeyDescription } from '../../packages/server/identity/devices/android/key-description.ts'
import {
  type DerElement,
  INTEGER,
  readElement,
  readElements,
  toBoolean,
  toNumber,
  toObjectIdentifier,
} from '../../packages/server/identity/devices/encoding/der.ts'
import { InvalidDeviceError } from '../../packages/server/identity/devices/encoding/invalid-device-error.ts'
import { writeKeyDescription } from '../../packages/server/testing/fakes/android-device.ts'
import { boolean, integer, objectIdentifier } from '../../packages/server/testing/fakes/der-writer.ts'
import { edit, Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

const DESCRIPTION = writeKeyDescription({
  challenge: 'c',
  packageNames: ['com.example'],
  signingDigests: ['ab'.repeat(32)],
})

export const seeds = [
  Buffer.concat([Buffer.of(0), DESCRIPTION]),
  Buffer.from('00020105020200ff0101ff06092a864886f70d01010b', 'hex'),
  Buffer.from('0003020780300030003000bf853e020500', 'hex'),
  Buffer.from('01020010050a', 'hex'),
  // Object identifiers: 2.999, 2.48, 1.3.562949953421311.
  Buffer.from('000602883706028100', 'hex'),
  Buffer.from('0006082bffffffffffff7f', 'hex'),
  Buffer.from('0f3000', 'hex'),
]

/** Undefined where the input is refused. Any other error is a finding. */
function accept<Value>(read: () => Value): Value | undefined {
  const result = attempt(read)
  if (result.error === undefined) return result.value
  assert(result.error instanceof InvalidDeviceError, `a refusal and no other error: ${result.error.stack}`)
  return undefined
}

function checkElement(element: DerElement): void {
  const { whole, content } = element
  assert(whole.subarray(whole.length - content.length).equals(content), 'an element ends with its content')
  assertEqual(readElement(whole, element.tag), element, 'an element reads alike alone')
  const number = accept(() => toNumber(element, INTEGER))
  if (number !== undefined) assertEqual(integer(number), whole, 'a number has one spelling')
  const truth = accept(() => toBoolean(element))
  if (truth !== undefined) assertEqual(boolean(truth), whole, 'a BOOLEAN has one spelling')
  const id = accept(() => toObjectIdentifier(element))
  if (id !== undefined) assertEqual(objectIdentifier(id), whole, 'an object identifier has one spelling')
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mode = input.byte()
  if (mode % 16 === 15) {
    const bytes = repeat(input.rest(), 2000)
    assertLinear(bytes, 60, 8000, () => attempt(() => readElements(bytes)))
    return
  }
  const bytes = mode % 2 === 0 ? input.rest() : edit(DESCRIPTION, input)
  const elements = accept(() => readElements(bytes))
  if (elements !== undefined)
    assertEqual(Buffer.concat(elements.map(({ whole }) => whole)), bytes, 'no byte is between elements')
  for (const element of elements ?? []) {
    checkElement(element)
    for (const inner of accept(() => readElements(element.content)) ?? []) checkElement(inner)
  }
  const description = accept(() => parseKeyDescription(bytes))
  if (description !== undefined)
    assertEqual(parseKeyDescription(Buffer.from(bytes)), description, 'the same bytes read alike')
}
