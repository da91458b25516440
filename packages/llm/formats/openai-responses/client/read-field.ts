import type { Json } from '../../../json/json-value.ts'
import type { SourceBody } from '../../../request/source-body.ts'

/** A top-level field of the received bytes; undefined: absent. */
export function readField({ bytes, fields }: SourceBody, name: string): Json | undefined {
  const span = fields.get(name)
  return span === undefined
    ? undefined
    : (JSON.parse(bytes.toString('utf8', span.valueStart, span.valueEnd)) as Json)
}
