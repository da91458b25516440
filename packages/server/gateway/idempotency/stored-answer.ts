/** A complete answer of status 200, as it is sent again. */
export interface StoredAnswer {
  /** The headers as [name, value, name, value, ...], without those of one request, such as its id. */
  readonly headers: readonly string[]
  /** The length of each frame of a stream; undefined: a whole answer. */
  readonly frames: readonly number[] | undefined
  readonly body: Buffer
}

/** The largest answer that is kept. A larger one leaves its key free. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024

const KEPT = /^(?:content-type|cache-control|x-accel-buffering|x-rideau-.+)$/i

/** Returns the headers that are sent again. */
export function toStoredHeaders(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at] as string, headers[at + 1] as string]
    if (KEPT.test(name)) kept.push(name, value)
  }
  return kept
}

/** What a buffer may be larger than the body that is a part of it. */
const SLACK_BYTES = 1024

/** Returns the answer with a body of its own: a short one may be a part of a buffer of a connection, and keep all of it. */
export function toOwnMemory({ headers, frames, body }: StoredAnswer): StoredAnswer {
  if (body.buffer.byteLength <= body.length + SLACK_BYTES) return { headers, frames, body }
  const own = Buffer.allocUnsafeSlow(body.length)
  body.copy(own)
  return { headers, frames, body: own }
}

const LENGTH_BYTES = 4

/** Layout: length of the JSON (4), JSON of headers and frames, body. */
export function encodeAnswer({ headers, frames, body }: StoredAnswer): Buffer {
  const head = Buffer.from(JSON.stringify({ headers, frames }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, body])
}

export function decodeAnswer(bytes: Buffer): StoredAnswer {
  const bodyAt = LENGTH_BYTES + bytes.readUInt32BE()
  const { headers, frames } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, bodyAt)) as StoredAnswer
  return { headers, frames, body: bytes.subarray(bodyAt) }
}
