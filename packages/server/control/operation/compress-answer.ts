import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(gzip)
/** A shorter answer fits into two packets as it is. In characters. */
const MIN_LENGTH = 2048
/** The compression level of zlib, whose default is 6. */
const LEVEL = 4
/** `gzip` without a weight of zero. */
const GZIP = /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))\s*(?:[,;]|$)/i

/**
 * Compresses what a GET answers, as a hook before it is sent. Only GET: no such answer has a secret, whose length with a
 * text of the caller beside it could be guessed. A record with an entity tag stays as it is, since the tag is of those bytes.
 */
export async function compressAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (request.method !== 'GET' || typeof payload !== 'string' || payload.length < MIN_LENGTH) return payload
  if (reply.hasHeader('etag') || reply.hasHeader('content-encoding')) return payload
  reply.header('Vary', 'Accept-Encoding')
  if (!takesGzip(request)) return payload
  const packed = await pack(payload)
  reply.header('Content-Encoding', 'gzip')
  return packed
}

export function takesGzip(request: FastifyRequest): boolean {
  return GZIP.test(String(request.headers['accept-encoding'] ?? ''))
}

export async function pack(text: string): Promise<Buffer> {
  return await compress(text, { level: LEVEL })
}
