import type { Findings } from '../formats/shared/requests/findings.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import type { SentBody } from '../json/unwritten-json.ts'
import type { ImageReply, ImageRequest } from './image-format.ts'

/** The parsed body of an image request. */
export interface ParsedImages {
  readonly request: ImageRequest
  /** The body's `end_user`, not validated yet; see name-end-user.ts. */
  readonly endUser: Json | undefined
  readonly findings: Pick<Findings, 'stored' | 'passedOn'>
  /** The files of a form; undefined: the body is JSON. */
  readonly files: readonly Buffer[] | undefined
}

/** What a parser gets besides the body. */
export interface ImageContext {
  readonly pathModel: string
  /** The request came with a client token. */
  readonly isEndUser: boolean
}

/** A format besides OpenAI's in which callers ask for images. */
export interface ImageServer {
  readonly contentType: string
  /** Throws RequestError. */
  parse(body: JsonObject, context: ImageContext): ParsedImages
  /** `model`: `provider/model` of the target that answered. */
  encodeReply(reply: ImageReply, model: string, requestId: string): SentBody
}
