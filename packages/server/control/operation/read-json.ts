import type { IncomingMessage } from 'node:http'
import { Fault } from '../../core/fault.ts'
import { parseJson } from '../../http/parse-json.ts'
import { readBody } from '../../http/read-body.ts'
import { isJsonContentType } from '../../http/request-headers.ts'

/** contract.md §1 "limits on size". */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024

/**
 * A request's body as JSON; undefined where it has none. `anyType`: the route takes no body, and so does not care
 * what an empty one is called.
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
