import type { FieldSpan } from '@rideau/llm/json/field-span'
import { scanJson } from '@rideau/llm/json/json-scan'
import type { Json } from '@rideau/llm/json/json-value'
import { Fault } from '../core/fault.ts'

export interface ParsedJson {
  readonly value: Json
  /** The position of each top-level field in the bytes. */
  readonly fields: ReadonlyMap<string, FieldSpan>
}

/**
 * Parses a body as JSON. Both planes accept UTF-8, at most 64 levels, no duplicate key in an object and no key called
 * `__proto__`; anything else throws `request_validation_failed`.
 */
export function parseJson(bytes: Buffer): ParsedJson {
  const scan = scanJson(bytes)
  if (scan.ok) {
    if (scan.hasPrototypeKey) throw prototypeKeyFault()
    return scan
  }
  throw new Fault(
    'request_validation_failed',
    REASONS[scan.reason],
    scan.key === undefined ? {} : { param: scan.key },
  )
}

/** A field of this name would become the prototype of a copy, and so supply values for absent fields. */
function prototypeKeyFault(): Fault {
  return new Fault('request_validation_failed', 'No field may be called __proto__.', {
    param: '__proto__',
  })
}

const REASONS = {
  duplicate_key: 'The body has a key twice in one object.',
  not_utf8: 'The body is not valid UTF-8.',
  malformed: 'The body is not valid JSON.',
  too_deep: 'The body is nested deeper than 64 levels.',
  too_many_values: 'The body has too many values.',
  too_many_fields: 'The body has too many fields.',
  long_name: 'The body has a field name that is too long.',
  long_number: 'The body has a number that is too long.',
}
