import type { IncomingMessage } from 'node:http'
import {
  BODY_LIMIT_BYTES,
  CONTROL_BOUNDS,
  PUBLIC_BOUNDS,
  SHORT_BODY_LIMIT_BYTES,
} from '@rideau/llm/json/body-bounds'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { Fault } from '../../core/fault.ts'
import type { BodyMemory } from '../../http/body/body-memory.ts'
import { toBodylessFault } from '../../http/body/bodyless.ts'
import { checkBeginning, parseJson, parseLongJson } from '../../http/body/parse-json.ts'
import { type BeginningCheck, readBody } from '../../http/body/read-body.ts'
import { isJsonContentType } from '../../http/head/request-headers.ts'

/** The body that a route accepts. */
export interface BodyRules {
  /** True: the route has no body, so any Content-Type is accepted. */
  readonly anyType: boolean
  /** True: the caller is authenticated, so the body has the higher limits. */
  readonly long: boolean
  readonly memory: BodyMemory | undefined
  /** Whose turns reading, unpacking and parsing a long body takes. */
  readonly owner?: ShareOwner | undefined
}

/** Returns the request's body, parsed as JSON; undefined if it has none. Rejects with the fault to answer. */
export async function readJson(req: IncomingMessage, timeoutMs: number, rules: BodyRules): Promise<unknown> {
  if (!rules.anyType && !isJsonContentType(req.headers['content-type'])) {
    throw new Fault('unsupported_media_type', 'The Content-Type must be application/json.', {
      param: 'Content-Type',
    })
  }
  const bounds = rules.long ? CONTROL_BOUNDS : PUBLIC_BOUNDS
  const check = (beginning: Buffer): Promise<void> =>
    checkBeginning(beginning, bounds, () => findStop(req), rules.owner)
  const bytes = await readInTime(req, timeoutMs, rules, check)
  if (bytes.length === 0) return undefined
  const { value } =
    parseJson(bytes, bounds) ?? (await parseLongJson(bytes, bounds, () => findStop(req), rules.owner))
  if (value === null) throw new Fault('invalid_request', 'The body must be a JSON object.')
  return value
}

function findStop(req: IncomingMessage): Fault | undefined {
  if (!req.socket.destroyed) return undefined
  return new Fault('request_canceled', 'The connection closed before the body was parsed.')
}

async function readInTime(
  req: IncomingMessage,
  timeoutMs: number,
  rules: BodyRules,
  check: BeginningCheck,
): Promise<Buffer> {
  const reader = readBody(
    req,
    rules.long ? BODY_LIMIT_BYTES : SHORT_BODY_LIMIT_BYTES,
    rules.memory,
    rules.owner,
    check,
  )
  const startedAt = performance.now()
  const checkTime = (): void => {
    // What takes long then, such as unpacking on a busy machine, is not the caller's. Neither are pauses for the turns of others.
    if (req.complete) return
    const leftMs = startedAt + timeoutMs + reader.progress.pausedMs - performance.now()
    if (leftMs > 0) timer = setTimeout(checkTime, leftMs)
    else reader.fail(new Fault('request_timeout', `The body must arrive within ${timeoutMs} ms.`))
  }
  let timer = setTimeout(checkTime, timeoutMs)
  try {
    return await reader.bytes
  } catch (thrown) {
    throw rules.anyType ? toBodylessFault(thrown) : thrown
  } finally {
    clearTimeout(timer)
  }
}
