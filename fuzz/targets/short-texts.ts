import {
  createKeyText,
  type KeyForm,
  maskKeyText,
  parseKeyText,
} from '../../packages/server/core/access/key-format.ts'
import { decodeBase64 } from '../../packages/server/identity/devices/encoding/base64.ts'
import { parseKeyId } from '../../packages/server/identity/devices/key-id.ts'
import { edit, Input } from '../input.ts'
import { assert, assertEqual } from '../oracle.ts'

const FORMS: readonly KeyForm[] = [
  { kind: 'secret', environment: 'development' },
  { kind: 'publishable', environment: 'production' },
  { kind: 'management' },
]

export const seeds = ['\x00\x00\x00', '\x01rd_sk_dev_', '\x02QUJD', '\x02QUI=', '\x03abc'].map(text =>
  Buffer.from(text, 'latin1'),
)

/** What base64 and base64url are (RFC 4648), as a pattern: one alphabet, whole bytes, all padding or none. */
const BASE64 = [
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/,
  /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?$/,
]

function checkBase64(text: string, maxBytes: number): void {
  const bytes = decodeBase64(text, maxBytes)
  const isForm = BASE64.some(form => form.test(text))
  if (bytes === undefined) {
    const loose = Buffer.from(text, 'base64')
    const spellings = [
      loose.toString('base64'),
      loose.toString('base64url'),
      loose.toString('base64').replace(/=+$/, ''),
    ]
    assert(!spellings.includes(text) || loose.length > maxBytes, 'base64 of that many bytes is decoded')
    return
  }
  assert(isForm && bytes.length <= maxBytes, 'nothing else is decoded')
  const digits = text.replace(/=+$/, '')
  assert(
    bytes.toString('base64url') === digits || bytes.toString('base64').replace(/=+$/, '') === digits,
    'no bits are lost',
  )
  assertEqual(parseKeyId(text)?.equals(bytes) ?? false, bytes.length === 32, 'a key id has 32 bytes')
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const kind = input.byte() % 4
  if (kind === 0) {
    const form = FORMS[input.byte() % 3] as KeyForm
    const random = input.take(24)
    // Bytes that are left out, or too large to be used, are replaced: the text needs 24 that are below 248.
    const bytes = Buffer.from(Array.from({ length: 24 }, (_, index) => (random[index] ?? 0) % 248))
    const key = createKeyText(form, { bytes: () => bytes })
    assertEqual(parseKeyText(key), form, 'a key that was made is one')
    const changed = edit(Buffer.from(key), input, 1).toString('latin1')
    if (changed.length === key.length && changed !== key)
      assertEqual(
        [...changed].filter((sign, at) => sign !== key[at]).length === 1 ? parseKeyText(changed) : undefined,
        undefined,
        'one wrong character is found',
      )
    const secret = key.slice(key.lastIndexOf('_') + 1, -4)
    assert(!maskKeyText(key).includes(secret), 'a mask shows no secret')
  } else if (kind === 1) {
    const text = input.rest().toString('utf8')
    const form = parseKeyText(text)
    if (form !== undefined) assert(/^rd_[a-z_]+_[0-9A-Za-z]{30}$/.test(text), 'a key has the form of one')
    assert(maskKeyText(text).length <= 17, 'a mask is short')
  } else checkBase64(input.rest().toString('latin1'), kind === 2 ? 48 : 32)
}
