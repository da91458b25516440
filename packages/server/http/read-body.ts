import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Fault } from '../core/fault.ts'
import { batchInTick } from './batch-in-tick.ts'

const unzip = promisify(gunzip)

export interface BodyReader {
  /** The whole body, decompressed; a promise if it has not all arrived. Rejects with the fault to answer. */
  readonly bytes: Buffer | Promise<Buffer>
  /** Stops reading and rejects `bytes` with the fault: the body arrives too slowly, or the caller is gone. */
  fail(fault: Fault): void
}

/**
 * Reads a request's body of up to `limit` bytes, measured before and after decompression. Bytes that are not read stay
 * on the connection: a response sent before the end of the body must close it (see `hasUnreadBody`).
 */
export function readBody(req: IncomingMessage, limit: number): BodyReader {
  const encoding = req.headers['content-encoding']
  const decode = (bytes: Buffer): Buffer | Promise<Buffer> =>
    encoding === undefined ? bytes : decompress(bytes, encoding, limit)
  const arrived = req.complete ? takeArrived(req) : undefined
  if (arrived !== undefined) {
    const isTooLarge = arrived.length > limit
    return { bytes: isTooLarge ? Promise.reject(tooLarge(limit)) : decode(arrived), fail: () => {} }
  }
  let fail: (fault: Fault) => void = () => {}
  const received = new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const stop = (): void => {
      req.off('data', onData)
      req.off('end', onEnd)
      req.off('error', onError)
    }
    fail = fault => {
      stop()
      req.pause()
      reject(fault)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) fail(tooLarge(limit))
      else chunks.push(chunk)
    }
    const onEnd = (): void => {
      stop()
      batchInTick(
        () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)),
        reject,
      )
    }
    const onError = (cause: Error): void => {
      stop()
      reject(new Fault('request_canceled', 'The connection closed before the body was complete.', { cause }))
    }
    if (Number(req.headers['content-length'] ?? 0) > limit) {
      fail(tooLarge(limit))
      return
    }
    if (req.destroyed) {
      onError(new Error('the connection is closed'))
      return
    }
    req.on('data', onData)
    req.on('end', onEnd)
    req.on('error', onError)
  })
  return {
    bytes: encoding === undefined ? received : received.then(decode),
    fail,
  }
}

/** Returns the whole body if it arrived with the head, without stream events; undefined if it can no longer be read. */
function takeArrived(req: IncomingMessage): Buffer | undefined {
  const bytes = req.read() as Buffer | null
  if (bytes !== null) return bytes
  return req.destroyed ? undefined : Buffer.alloc(0)
}

/** True while bytes of the body may still be on the wire, so that the connection cannot serve another request. */
export function hasUnreadBody(req: IncomingMessage): boolean {
  return !req.complete
}

async function decompress(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes
  if (name !== 'gzip' && name !== 'x-gzip') {
    throw new Fault('unsupported_media_type', 'The body may be plain or gzip, no other content encoding.', {
      param: 'content-encoding',
    })
  }
  try {
    return await unzip(bytes, { maxOutputLength: limit })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit)
    throw new Fault('request_validation_failed', 'The body is not valid gzip.', { cause })
  }
}

function tooLarge(limit: number): Fault {
  return new Fault('request_too_large', `The body is over ${Math.floor(limit / 1024 / 1024)} MiB.`)
}
