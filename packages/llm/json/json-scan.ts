import { isUtf8 } from 'node:buffer'
import { decodeText } from './decode-text.ts'
import type { FieldSpan } from './field-span.ts'
import type { Json } from './json-value.ts'
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
    value = JSON.parse(decodeText(bytes)) as Json
  } catch {
    return { ok: false, reason: 'malformed' }
  }
  if (walk.duplicate !== undefined) return { ok: false, reason: 'duplicate_key', key: walk.duplicate }
  return { ok: true, value, fields: walk.fields }
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
