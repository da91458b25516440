import type { FieldSpan } from '@rideau/llm/json/field-span'
import { scanJson } from '@rideau/llm/json/json-scan'
import type { Json } from '@rideau/llm/json/json-value'
import { Fault } from '../core/fault.ts'

export interface ParsedJson {
  readonly value: Json
  /** Where each top-level field stands in the bytes. */
  readonly fields: ReadonlyMap<string, FieldSpan>
}

/** A body as JSON, by the rules of both hosts (contract.md §1): UTF-8, at most 64 levels, no key twice in one object. */
export function parseJson(bytes: Buffer): ParsedJson {
  const scan = scanJson(bytes)
  if (scan.ok) return scan
  throw new Fault(
    'request_validation_failed',
    REASONS[scan.reason],
    scan.key === undefined ? {} : { param: scan.key },
  )
}

const REASONS = {
  duplicate_key: 'The body has a key twice in one object.',
  not_utf8: 'The body is not valid UTF-8.',
  malformed: 'The body is not valid JSON.',
  too_deep: 'The body is nested deeper than 64 levels.',
}
