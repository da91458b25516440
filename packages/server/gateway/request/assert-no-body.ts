import { PUBLIC_BOUNDS } from '@rideau/llm/json/body-bounds'
import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import { Fault } from '../../core/fault.ts'
import { toBodylessFault } from '../../http/body/bodyless.ts'
import { parseJson, parseLongJson } from '../../http/body/parse-json.ts'
import { readBytes } from './read-json.ts'
import type { RequestContext } from './request-context.ts'

/** Some routes count no bytes of bodies, so theirs must take next to nothing. */
const MAX_BYTES = 1024

/**
 * Reads what was sent to a route without a body: nothing, an empty body and `{}` are accepted, under any content type.
 * Throws for anything else, as the control plane does.
 */
export async function assertNoBody(ctx: RequestContext, timeoutMs: number): Promise<void> {
  const bytes = await readShort(ctx, timeoutMs)
  if (bytes.length === 0) return
  const { value } =
    parseJson(bytes, PUBLIC_BOUNDS) ?? (await parseLongJson(bytes, PUBLIC_BOUNDS, () => ctx.stopped))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault('invalid_request', 'The body must be a JSON object.')
  }
  const [name] = Object.keys(value)
  if (name === undefined) return
  throw new Fault('invalid_request', 'Unknown field: this route takes no body.', { param: excerptName(name) })
}

async function readShort(ctx: RequestContext, timeoutMs: number): Promise<Buffer> {
  try {
    return await readBytes(ctx, MAX_BYTES, timeoutMs)
  } catch (thrown) {
    throw toBodylessFault(thrown)
  }
}
