import { REQUEST_BOUNDS } from '@rideau/llm/json/body-bounds'
import { findCaseVariant } from '@rideau/llm/json/json-scan'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { RESERVED_NAMES } from '@rideau/llm/upstream/reserved-names'
import { Fault } from '../../core/fault.ts'
import { checkBeginning, type ParsedJson, parseJson, parseLongJson } from '../../http/body/parse-json.ts'
import {
  type BeginningCheck,
  type BodyProgress,
  type BodyReader,
  readBody,
} from '../../http/body/read-body.ts'
import { takeTurn } from '../../http/fairness/sliced-work.ts'
import { isJsonContentType } from '../../http/head/request-headers.ts'
import { canceledFault, type RequestContext } from './request-context.ts'

export interface JsonBody {
  readonly value: JsonObject
  /** The bytes that were parsed. The same bytes are forwarded, so they cannot differ from what was authorized. */
  readonly bytes: Buffer
  /** The position of each top-level field in `bytes`. */
  readonly fields: SourceBody['fields']
}

/** Fields by which the gateway itself authorizes, beside those that a provider would read. */
const AUTHORIZING = [
  'end_user',
  'scopes',
  'ttl_seconds',
  'expires_in',
  'identity_token',
  'id_token',
  'provider_options',
]
const EXACT_NAMES: ReadonlySet<string> = new Set([...RESERVED_NAMES, ...AUTHORIZING])

/**
 * Reads and parses the body once. Throws for duplicate keys and for case variants of names that are authorized or priced, in every format.
 */
export async function readJson(ctx: RequestContext, limit: number, timeoutMs: number): Promise<JsonBody> {
  if (!isJsonContentType(ctx.req.headers['content-type'])) {
    throw new Fault('unsupported_media_type', 'The Content-Type must be application/json.', {
      param: 'Content-Type',
    })
  }
  const check = (beginning: Buffer): Promise<void> =>
    checkBeginning(beginning, REQUEST_BOUNDS, () => ctx.stopped, ctx)
  const reading = readBytes(ctx, limit, timeoutMs, check)
  return await parseBody(ctx, reading instanceof Promise ? await reading : reading)
}

/** Parses bytes that have arrived, like `readJson`: a body, or a text that a body contains. */
export async function parseBody(ctx: RequestContext, bytes: Buffer): Promise<JsonBody> {
  const parsed = parseJson(bytes, REQUEST_BOUNDS) ?? (await parseLong(ctx, bytes))
  const { value, fields } = parsed
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault('invalid_request', 'The body must be a JSON object.')
  }
  const variant = findCaseVariant(fields, EXACT_NAMES)
  if (variant !== undefined) {
    throw new Fault(
      'request_validation_failed',
      `${variant}: must be written in the case of the documented field name.`,
      {
        param: variant,
      },
    )
  }
  return { value, bytes, fields }
}

async function parseLong(ctx: RequestContext, bytes: Buffer): Promise<ParsedJson> {
  ctx.isLong = true
  const parsed = await parseLongJson(bytes, REQUEST_BOUNDS, () => ctx.stopped, ctx)
  await takeTurn(ctx)
  return parsed
}

/** Returns a promise unless the body has arrived completely. */
export function readBytes(
  ctx: RequestContext,
  limit: number,
  timeoutMs: number,
  check?: BeginningCheck,
): Buffer | Promise<Buffer> {
  ctx.assertNotStopped()
  const body = readBody(ctx.req, limit, ctx.permit, ctx, check)
  return body.bytes instanceof Promise ? awaitBody(ctx, body, body.bytes, timeoutMs) : body.bytes
}

async function awaitBody(
  ctx: RequestContext,
  body: BodyReader,
  bytes: Promise<Buffer>,
  timeoutMs: number,
): Promise<Buffer> {
  const startedAt = performance.now()
  ctx.watch(
    now => {
      // What takes long then, such as unpacking on a busy machine, is not the caller's.
      if (ctx.req.complete) return
      const elapsedMs = now - startedAt - body.progress.pausedMs
      if (elapsedMs > timeoutMs || isTooSlow(body.progress, elapsedMs, timeoutMs))
        body.fail(
          new Fault('request_timeout', `The body arrives too slowly to be complete within ${timeoutMs} ms.`),
        )
    },
    () => body.fail(canceledFault()),
  )
  try {
    return await bytes
  } finally {
    ctx.unwatch()
  }
}

/** The part of the timeout in which a body need not make progress. */
const GRACE = 1 / 6
/** How much of its even progress a body may lag behind. */
const SLACK = 1 / 2
/** Shorter bodies may take the whole timeout, since they hold next to no memory. */
const SHORT_BYTES = 64 * 1024

/**
 * True if a long body comes so slowly that it would hold its memory without arriving in time. A body that arrives at any
 * even pace within the timeout is never too slow. One in chunks holds what has arrived only.
 */
function isTooSlow({ received, length }: BodyProgress, elapsedMs: number, timeoutMs: number): boolean {
  if (length === undefined || length <= SHORT_BYTES) return false
  return received < length * SLACK * (elapsedMs / timeoutMs - GRACE)
}
