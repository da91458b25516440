import type { FieldSpan } from '../json/field-span.ts'
import type { FormatId } from './format-id.ts'

/** The received bytes of a body, so that what stays the same is not serialised again where the formats agree. */
export interface SourceBody {
  readonly format: FormatId
  readonly bytes: Buffer
  /** Of every top-level field: where its key starts and its value ends (byte offsets), see json/json-scan.ts. */
  readonly fields: ReadonlyMap<string, FieldSpan>
  /** The caller's headers that belong to its format and go to a provider of the same format only. */
  readonly headers?: Readonly<Record<string, string>>
}
