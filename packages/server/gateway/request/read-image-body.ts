import { findStored } from '@rideau/llm/formats/shared/requests/stored-fields'
import {
  type EditSources,
  findPassedOn,
  parseImageRequest,
  parseSources,
} from '@rideau/llm/images/image-request'
import type { ImageServer, ParsedImages } from '@rideau/llm/images/image-server'
import { CHAT_BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { isJsonContentType } from '../../http/head/request-headers.ts'
import { parseImageForm } from './image-form.ts'
import { noteModel } from './note-model.ts'
import { assertForm } from './read-form.ts'
import { readBytes, readJson } from './read-json.ts'
import type { IdentifiedContext } from './request-context.ts'

export type ImageRoute = 'generations' | 'edits'

/** Reads the body of an image request: JSON, or for edits also a form. */
export async function readImageBody(
  ctx: IdentifiedContext,
  route: ImageRoute,
  timeoutMs: number,
): Promise<ParsedImages> {
  const contentType = ctx.req.headers['content-type']
  if (route === 'edits' && contentType !== undefined && !isJsonContentType(contentType)) {
    assertForm(contentType, 'multipart/form-data or application/json')
    const bytes = await readBytes(ctx, CHAT_BODY_LIMIT_BYTES, timeoutMs)
    const { value, sources } = await parseImageForm(bytes, contentType, () => ctx.stopped, ctx)
    // The log keeps the fields without the files.
    ctx.recordFields.requestBody = Buffer.from(JSON.stringify({ ...value, images: sources.images.length }))
    return toParsed(ctx, value, () => sources, toFiles(sources))
  }
  const { value, bytes } = await readJson(ctx, CHAT_BODY_LIMIT_BYTES, timeoutMs)
  ctx.recordFields.requestBody = bytes
  return toParsed(ctx, value, () => (route === 'edits' ? parseSources(value) : undefined))
}

/** Reads the body of an image request in another format than OpenAI's. */
export async function readServedImages(
  ctx: IdentifiedContext,
  server: ImageServer,
  pathModel: string,
  timeoutMs: number,
): Promise<ParsedImages> {
  const { value, bytes } = await readJson(ctx, CHAT_BODY_LIMIT_BYTES, timeoutMs)
  ctx.recordFields.requestBody = bytes
  noteModel(ctx.recordFields, pathModel)
  return server.parse(value, { pathModel, isEndUser: ctx.caller.kind === 'client_token' })
}

function toParsed(
  ctx: IdentifiedContext,
  value: JsonObject,
  findSources: () => Parameters<typeof parseImageRequest>[1],
  files?: readonly Buffer[],
): ParsedImages {
  noteModel(ctx.recordFields, value.model)
  const request = parseImageRequest(value, findSources())
  return {
    request,
    endUser: value.end_user,
    findings: {
      stored: ctx.caller.kind === 'client_token' ? findStored(value) : undefined,
      passedOn: findPassedOn(value, request),
    },
    files,
  }
}

/** Returns the files of a form, which holds bytes alone. */
function toFiles({ images, mask }: EditSources): Buffer[] {
  const sources = mask === undefined ? images : [...images, mask]
  return sources.flatMap(source =>
    source.kind === 'data' && Buffer.isBuffer(source.bytes) ? [source.bytes] : [],
  )
}
