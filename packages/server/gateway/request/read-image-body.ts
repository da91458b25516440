import type { ImageRequest } from '@rideau/llm/images/image-format'
import { parseImageRequest, parseSources } from '@rideau/llm/images/image-request'
import { CHAT_BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { Fault } from '../../core/fault.ts'
import { isJsonContentType } from '../../http/request-headers.ts'
import type { Facts } from './facts.ts'
import { parseImageForm } from './image-form.ts'
import { readBytes, readJson } from './read-json.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestDeps } from './request-deps.ts'

export type ImageRoute = 'generations' | 'edits'

export interface ImageBody {
  /** The body's fields as JSON, without its files. */
  readonly value: JsonObject
  /** Throws what refuses the body. */
  parse(): ImageRequest
}

/** Reads the body of a request for images: JSON, or for edits a form as well (contract.md §2 "unsupported_media_type"). */
export async function readImageBody(
  ctx: RequestContext,
  facts: Facts,
  route: ImageRoute,
  deps: RequestDeps,
): Promise<ImageBody> {
  const contentType = ctx.req.headers['content-type']
  if (route === 'edits' && contentType !== undefined && !isJsonContentType(contentType)) {
    if (!/^multipart\/form-data\s*;/i.test(contentType)) {
      throw new Fault('unsupported_media_type', 'Send the body as multipart/form-data or application/json.')
    }
    const bytes = await readBytes(ctx, CHAT_BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
    const { value, sources } = await parseImageForm(bytes, contentType, () => ctx.stopped)
    // The log keeps what was asked, not the files.
    facts.requestBody = Buffer.from(JSON.stringify({ ...value, images: sources.images.length }))
    return { value, parse: () => parseImageRequest(value, sources) }
  }
  const { value, source } = await readJson(ctx, 'openai-chat', CHAT_BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  facts.requestBody = source.bytes
  return {
    value,
    parse: () => parseImageRequest(value, route === 'edits' ? parseSources(value) : undefined),
  }
}
