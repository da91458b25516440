import type { IncomingMessage } from 'node:http'
import { Fault } from '../core/fault.ts'
import { batchInTick } from './batch-in-tick.ts'
import { startGunzip, type Unpacking } from './gunzip.ts'
import { ReceivedChunks } from './received-chunks.ts'

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
  const arrived = req.complete ? takeArrived(req) : undefined
  const reader = arrived === undefined ? receive(req, limit) : toReader(arrived, limit)
  const encoding = req.headers['content-encoding']
  return encoding === undefined ? reader : decode(reader, encoding, limit)
}

function toReader(arrived: Buffer, limit: number): BodyReader {
  const isTooLarge = arrived.length > limit
  return { bytes: isTooLarge ? Promise.reject(tooLarge(limit)) : arrived, fail: () => {} }
}

function receive(req: IncomingMessage, limit: number): BodyReader {
  let fail: (fault: Fault) => void = () => {}
  const bytes = new Promise<Buffer>((resolve, reject) => {
    const chunks = new ReceivedChunks()
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
      chunks.add(chunk)
      if (chunks.size > limit) fail(tooLarge(limit))
    }
    const onEnd = (): void => {
      stop()
      batchInTick(() => resolve(chunks.join()), reject)
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
  return { bytes, fail }
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

function decode(packed: BodyReader, encoding: string, limit: number): BodyReader {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return packed
  if (name !== 'gzip' && name !== 'x-gzip') return toRefused(packed)
  let stopped: Fault | undefined
  let unpacking: Unpacking | undefined
  const unpack = (bytes: Buffer): Promise<Buffer> => {
    unpacking = startGunzip(bytes, limit, () => tooLarge(limit))
    if (stopped !== undefined) unpacking.stop(stopped)
    return unpacking.bytes
  }
  return {
    bytes: packed.bytes instanceof Promise ? packed.bytes.then(unpack) : unpack(packed.bytes),
    fail(fault) {
      stopped = fault
      packed.fail(fault)
      unpacking?.stop(fault)
    },
  }
}

/** Rejects after the body was read, so that the connection stays usable. */
function toRefused(packed: BodyReader): BodyReader {
  const refuse = (): never => {
    throw new Fault(
      'unsupported_media_type',
      'The Content-Encoding must be gzip, or absent for a plain body.',
      {
        param: 'content-encoding',
      },
    )
  }
  return { bytes: Promise.resolve(packed.bytes).then(refuse), fail: packed.fail }
}

function tooLarge(limit: number): Fault {
  const kib = limit / 1024
  return new Fault(
    'request_too_large',
    `The body must have at most ${kib < 1024 ? `${kib} KiB` : `${Math.floor(kib / 1024)} MiB`}.`,
  )
}
