import { findCaseVariant, scanJson } from '@rideau/llm/frames/json-scan'
import type { JsonObject, SourceBody, SurfaceId } from '@rideau/llm/spec'
import { Fault } from '../../core/fault.ts'
import { readBody } from '../../http/read-body.ts'
import { isJsonContentType } from '../../http/request-headers.ts'
import { canceledFault, type Exchange } from '../exchange.ts'
import { PROTECTED_NAMES } from '../surfaces/reserved-fields.ts'

/** Chat-shaped bodies carry images; contract.md §1. */
export const CHAT_BODY_LIMIT = 32 * 1024 * 1024

export interface JsonBody {
  readonly value: JsonObject
  /** The same bytes that were parsed: what is authorized and what is forwarded cannot differ. */
  readonly source: SourceBody
}

/** Reads and parses the body once. Doubled keys and case variants of protected ones are refused here, on every surface. */
export async function readJson(
  x: Exchange,
  surface: SurfaceId,
  limit: number,
  timeoutMs: number,
): Promise<JsonBody> {
  if (!isJsonContentType(x.req.headers['content-type'])) {
    throw new Fault('unsupported_media_type', 'Send the body as application/json.')
  }
  const bytes = await readBytes(x, limit, timeoutMs)
  const scan = scanJson(bytes)
  if (!scan.ok) throw malformed(scan.reason, scan.key)
  if (typeof scan.value !== 'object' || scan.value === null || Array.isArray(scan.value)) {
    throw new Fault('invalid_request', 'The body must be a JSON object.')
  }
  const variant = findCaseVariant(scan.fields, PROTECTED_NAMES)
  if (variant !== undefined) {
    throw new Fault('request_validation_failed', 'A field name is written in another case than it has.', {
      param: variant,
    })
  }
  return { value: scan.value, source: { surface, bytes, fields: scan.fields } }
}

async function readBytes(x: Exchange, limit: number, timeoutMs: number): Promise<Buffer> {
  const body = readBody(x.req, limit)
  const deadline = performance.now() + timeoutMs
  x.watch(
    now => {
      if (now > deadline) body.fail(new Fault('request_timeout', 'The body came too slowly.'))
    },
    () => body.fail(canceledFault()),
  )
  try {
    return await body.bytes
  } finally {
    x.unwatch()
  }
}

function malformed(reason: string, key: string | undefined): Fault {
  if (reason === 'duplicate_key') {
    return new Fault('request_validation_failed', 'The body has a key twice in one object.', {
      ...(key === undefined ? {} : { param: key }),
    })
  }
  const messages: Record<string, string> = {
    not_utf8: 'The body is not valid UTF-8.',
    too_deep: 'The body is nested deeper than 64 levels.',
  }
  return new Fault('request_validation_failed', messages[reason] ?? 'The body is not valid JSON.')
}
