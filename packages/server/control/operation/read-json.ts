import type { IncomingMessage } from 'node:http'
import {
  BODY_LIMIT_BYTES,
  CONTROL_BOUNDS,
  PUBLIC_BOUNDS,
  SHORT_BODY_LIMIT_BYTES,
} from '@rideau/llm/json/body-bounds'
import { Fault } from '../../core/fault.ts'
import type { BodyMemory } from '../../http/body-memory.ts'
import { parseJson, parseLongJson } from '../../http/parse-json.ts'
import { readBody } from '../../http/read-body.ts'
import { isJsonContentType } from '../../http/request-headers.ts'

/** What a route takes. */
export interface BodyRules {
  /** It takes no body, and so does not care what an empty one is called. */
  readonly anyType: boolean
  /** It configures something, and its caller is known: what it takes may be long. */
  readonly long: boolean
  readonly memory: BodyMemory | undefined
}

/** A request's body as JSON; undefined where it has none. */
export async function readJson(req: IncomingMessage, timeoutMs: number, rules: BodyRules): Promise<unknown> {
  if (!rules.anyType && !isJsonContentType(req.headers['content-type'])) {
    throw new Fault('unsupported_media_type', 'The body must be JSON.', { param: 'content-type' })
  }
  const bytes = await readInTime(
    req,
    rules.long ? BODY_LIMIT_BYTES : SHORT_BODY_LIMIT_BYTES,
    timeoutMs,
    rules.memory,
  )
  if (bytes.length === 0) return undefined
  const bounds = rules.long ? CONTROL_BOUNDS : PUBLIC_BOUNDS
  const { value } = parseJson(bytes, bounds) ?? (await parseLongJson(bytes, bounds, () => findStop(req)))
  if (value === null) throw new Fault('invalid_request', 'The body must be a JSON object.')
  return value
}

function findStop(req: IncomingMessage): Fault | undefined {
  if (!req.socket.destroyed) return undefined
  return new Fault('request_canceled', 'The connection closed before the body was parsed.')
}

async function readInTime(
  req: IncomingMessage,
  limit: number,
  timeoutMs: number,
  memory: BodyMemory | undefined,
): Promise<Buffer> {
  const reader = readBody(req, limit, memory)
  const timer = setTimeout(() => {
    reader.fail(new Fault('request_timeout', 'The body came too slowly.'))
  }, timeoutMs)
  try {
    return await reader.bytes
  } finally {
    clearTimeout(timer)
  }
}
