import { X509Certificate } from 'node:crypto'
import { InvalidDeviceError } from '../../packages/server/identity/devices/encoding/invalid-device-error.ts'
import {
  type Certificate,
  canIssue,
  findUnknownExtension,
  parseCertificate,
} from '../../packages/server/identity/devices/x509/certificate.ts'
import { parsePublicKey } from '../../packages/server/identity/devices/x509/public-key.ts'
import { parseTrustAnchors } from '../../packages/server/identity/devices/x509/trust-anchor.ts'
import { createAuthority, toPem } from '../../packages/server/testing/fakes/certificate-writer.ts'
import { edit, Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

const { certificate: GENUINE } = createAuthority('Root')
const PEM = toPem(GENUINE)

export const seeds = [
  Buffer.concat([Buffer.of(1), GENUINE]),
  ...['0001000800', '0002010001050100030102', '02010100', '0f30', '03'].map(hex => Buffer.from(hex, 'hex')),
]

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const NODE_TIME = /^([A-Z][a-z]{2}) +(\d+) (\d\d):(\d\d):(\d\d) (\d+) GMT$/

/** Returns the milliseconds of a time as Node writes it. Date.parse takes the year 59 for 1959. */
function readNodeTime(text: string): number {
  const [, month = '', day, hour, minute, second, year] = NODE_TIME.exec(text) ?? []
  const date = new Date(0)
  date.setUTCFullYear(Number(year), MONTHS.indexOf(month), Number(day))
  return date.setUTCHours(Number(hour), Number(minute), Number(second))
}

/** Returns a serial as it stands in the certificate. Node writes a negative one by its absolute value. */
function toSerialBytes(text: string, length: number): string {
  if (!text.startsWith('-')) return text.toLowerCase().replace(/^0+/, '')
  return (16n ** BigInt(length) - BigInt(`0x${text.slice(1)}`)).toString(16)
}

function checkAgainstNode(parsed: Certificate, bytes: Buffer): void {
  const { value: node } = attempt(() => new X509Certificate(bytes)) as { value?: X509Certificate }
  if (node === undefined) return
  const { serial, notBefore, notAfter } = parsed
  assertEqual(serial, toSerialBytes(node.serialNumber, serial.length), 'the serial that Node reads')
  if (!Number.isNaN(notAfter)) assertEqual(notAfter, readNodeTime(node.validTo), 'the end that Node reads')
  if (!Number.isNaN(notBefore))
    assertEqual(notBefore, readNodeTime(node.validFrom), 'the start that Node reads')
  const key = attempt(() => parsePublicKey(parsed.publicKey))
  if (key.error === undefined) assert(key.value.equals(node.publicKey), 'the key that Node reads')
  const authority = attempt(() => canIssue(parsed, 0) && findUnknownExtension(parsed) === undefined)
  if (authority.error === undefined && authority.value) assert(node.ca, 'what may issue is a CA for Node too')
}

function checkCertificate(bytes: Buffer): void {
  const { value, error } = attempt(() => parseCertificate(bytes)) as { value?: Certificate; error?: Error }
  if (value === undefined)
    assert(error instanceof InvalidDeviceError, `a refusal and no other error: ${error?.stack}`)
  else checkAgainstNode(value, bytes)
}

function checkPem(text: string): void {
  const { value, error } = attempt(() => parseTrustAnchors(text)) as {
    value?: ReturnType<typeof parseTrustAnchors>
    error?: Error
  }
  if (error !== undefined)
    assert(
      error.constructor === Error && /certificate/i.test(error.message),
      `a message for the operator: ${error.stack}`,
    )
  const { length } =
    text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? []
  if (value !== undefined) assertEqual(value.length, length, 'an anchor for each certificate')
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mode = input.byte()
  if (mode % 16 === 15) {
    const bytes = repeat(input.rest(), 2000)
    assertLinear(bytes, 60, 20_000, () => attempt(() => parseCertificate(bytes)))
  } else if (mode % 4 === 0) checkCertificate(edit(GENUINE, input))
  else if (mode % 4 === 1) checkCertificate(input.rest())
  else if (mode % 4 === 2) checkPem(edit(Buffer.from(PEM), input).toString('latin1'))
  else checkPem(PEM + input.rest().toString('latin1') + PEM)
}
