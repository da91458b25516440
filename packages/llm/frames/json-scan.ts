import { isAscii, isUtf8, transcode } from 'node:buffer'
import type { FieldSpan, Json } from '../spec.ts'
import { StructureWalk } from './structure-walk.ts'

export type JsonScan =
  | { readonly ok: true; readonly value: Json; readonly fields: ReadonlyMap<string, FieldSpan> }
  | {
      readonly ok: false
      readonly reason: 'not_utf8' | 'malformed' | 'duplicate_key' | 'too_deep'
      /** The key that was given twice, decoded. */
      readonly key?: string
    }

/**
 * Parses a request body once and finds what JSON.parse does not tell: where each top-level field lies in the bytes,
 * and whether any object names a key twice, which two parsers may read differently.
 */
export function scanJson(bytes: Buffer): JsonScan {
  if (!isUtf8(bytes)) return { ok: false, reason: 'not_utf8' }
  const walk = new StructureWalk(bytes)
  if (!walk.run()) return { ok: false, reason: 'too_deep' }
  let value: Json
  try {
    value = JSON.parse(decode(bytes)) as Json
  } catch {
    return { ok: false, reason: 'malformed' }
  }
  if (walk.duplicate !== undefined) return { ok: false, reason: 'duplicate_key', key: walk.duplicate }
  return { ok: true, value, fields: walk.fields }
}

/** Below so many bytes the call into the faster decoder costs more than it saves. */
const FAST_DECODE_BYTES = 2_048

/** Valid UTF-8 as text. Buffer's own decoder is slow from the first sign on that is not ASCII: 4 ns a byte against 1.5. */
function decode(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (bytes.length < FAST_DECODE_BYTES) return bytes.toString('utf8')
  return transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
}

/**
 * A top-level key that equals one of the names but for case: a laxer parser would take it for that name.
 * `names` are in lower case.
 */
export function findCaseVariant(
  fields: ReadonlyMap<string, FieldSpan>,
  names: ReadonlySet<string>,
): string | undefined {
  for (const key of fields.keys()) {
    if (!names.has(key) && names.has(key.toLowerCase())) return key
  }
  return undefined
}
