import type { SentBody } from '../json/unwritten-json.ts'
import type { OutgoingBody } from './outgoing-body.ts'

/** A request without the credential: authorizeRequest adds that last, because a signature covers the rest. */
export interface UpstreamRequest {
  /** Absent: POST. */
  readonly method?: 'GET' | 'POST'
  readonly origin: string
  /** The path with its query, from the origin's root. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** The SHA-256 of the body in hex, for a signature. Absent: it is computed at once where it is needed. */
  readonly bodyDigest?: string
  /** What the body says. authorizeRequest checks it, and refuses a body without it. */
  readonly content?: OutgoingBody
  /** Wire names of what the format has no word for and the request asks for in another way. Absent: nothing. */
  readonly emulated?: readonly string[]
}

/** A request as a format encodes it. A long body is written before the request is authorized. */
export interface EncodedRequest extends Omit<UpstreamRequest, 'body'> {
  readonly body: SentBody
  /** Returns the Content-Type once the body is written. Absent: the headers have it. */
  readonly contentType?: () => string
}
