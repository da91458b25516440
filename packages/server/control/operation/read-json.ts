import type { IncomingMessage } from 'node:http'
import { Fault } from '../../core/fault.ts'
import { parseJson } from '../../http/parse-json.ts'
import { readBody } from '../../http/read-body.ts'
import { isJsonContentType } from '../../http/request-headers.ts'

/** The limit of a body; a larger one is answered with 413 `request_too_large`. */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024

/**
 * Returns the request's body as JSON; undefined if it is empty. With `anyType` any content type is accepted, for routes
 * without a body.
 */
export async function readJson(req: IncomingMessage, timeoutMs: number, anyType: boolean): Promise<unknown> {
  if (!anyType && !isJsonContentType(req.headers['content-type'])) {
    throw new Fault('unsupported_media_type', 'The body must be JSON.', { param: 'content-type' })
  }
  const bytes = await readInTime(req, timeoutMs)
  if (bytes.length === 0) return undefined
  const { value } = parseJson(bytes)
  if (value === null) throw new Fault('invalid_request', 'The body must be a JSON object.')
  return value
}

async function readInTime(req: IncomingMessage, timeoutMs: number): Promise<Buffer> {
  const reader = readBody(req, BODY_LIMIT_BYTES)
  const timer = setTimeout(() => {
    reader.fail(new Fault('request_timeout', 'The body came too slowly.'))
  }, timeoutMs)
  try {
    return await reader.bytes
  } finally {
    clearTimeout(timer)
  }
}
