import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Random } from '../random.ts'
import type { EnvironmentName, KeyKind } from '../tenancy/tenancy.ts'

/**
 * The text of a key: `rd_sk_dev_<secret><checksum>`, `rd_pk_prod_…`, `rd_mk_…` (management keys have no environment).
 * The secret is 24 base62 characters of 142 random bits. The checksum of 6 characters detects a typo without a look-up.
 */

export type KeyForm =
  | { readonly kind: KeyKind; readonly environment: EnvironmentName }
  | { readonly kind: 'management' }

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 24
const CHECKSUM_LENGTH = 6
const FORM = /^(rd_(?:(sk|pk)_(dev|prod)|mk)_)([0-9A-Za-z]{30})$/

export function createKeyText(form: KeyForm, random: Random): string {
  const body = prefixOf(form) + base62(random, SECRET_LENGTH)
  return body + checksum(body)
}

/** Returns the kind of a key; undefined if the text is not a key or its checksum is wrong. */
export function parseKeyText(text: string): KeyForm | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const body = text.slice(0, -CHECKSUM_LENGTH)
  if (checksum(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined
  if (match[2] === undefined) return { kind: 'management' }
  return {
    kind: match[2] === 'sk' ? 'secret' : 'publishable',
    environment: match[3] === 'dev' ? 'development' : 'production',
  }
}

/** Returns the SHA-256 that is stored instead of the key. */
export function hashKeyText(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Returns the part of a key that may be shown after its creation: the prefix and the last four characters. */
export function maskKeyText(text: string): string {
  const prefix = FORM.exec(text)?.[1] ?? ''
  return `${prefix}…${text.slice(-4)}`
}

function prefixOf(form: KeyForm): string {
  if (form.kind === 'management') return 'rd_mk_'
  return `rd_${form.kind === 'secret' ? 'sk' : 'pk'}_${form.environment === 'development' ? 'dev' : 'prod'}_`
}

/** Returns uniform base62 characters. Bytes of 248 and above are discarded, because they would favour the first eight. */
function base62(random: Random, length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]
    }
  }
  return text
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = ALPHABET[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
