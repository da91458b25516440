import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Random } from './chance.ts'
import type { EnvironmentName, KeyKind } from './tenancy.ts'

/**
 * The written form of our keys: `rd_sk_dev_<secret><checksum>`, `rd_pk_prod_…`, `rd_mk_…` (no environment).
 * 24 base62 characters carry 142 random bits; the checksum of 6 tells a typo from an unknown key without a look-up.
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

/** What kind of key this text is, or undefined where it is none of ours or mistyped. */
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

/** What is stored in a key's place. */
export function hashKeyText(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** What may be shown of a key after its creation: the prefix and the last four characters. */
export function maskKeyText(text: string): string {
  const prefix = FORM.exec(text)?.[1] ?? ''
  return `${prefix}…${text.slice(-4)}`
}

function prefixOf(form: KeyForm): string {
  if (form.kind === 'management') return 'rd_mk_'
  return `rd_${form.kind === 'secret' ? 'sk' : 'pk'}_${form.environment === 'development' ? 'dev' : 'prod'}_`
}

/** Uniform: bytes of 248 and above would favour the first letters and are thrown away. */
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
