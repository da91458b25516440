import type { FieldSpan } from '../json/field-span.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { FormatId } from './format-id.ts'

/**
 * A body as it was received. Where caller and provider speak the same format its bytes are sent on, and only fields that
 * change are written anew.
 */
export interface SourceBody {
  readonly format: FormatId
  readonly bytes: Buffer
  /** The bytes, parsed once. It must not be changed: what is checked here is sent from the bytes. */
  readonly value: JsonObject
  /** The span of every top-level field: where its key starts and its value ends (byte offsets), see json/json-scan.ts. */
  readonly fields: ReadonlyMap<string, FieldSpan>
  /** The caller's headers that belong to its format and go to a provider of the same format only. */
  readonly headers?: Readonly<Record<string, string>>
}
