import type { IncomingMessage } from 'node:http'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { Fault } from '../../core/fault.ts'
import { type GivenUpFor, whyGivenUp } from '../connection/given-up.ts'
import { batchInTick } from '../fairness/batch-in-tick.ts'
import { UNKNOWN_OWNER } from '../fairness/loop-turns.ts'
import { takeTurn } from '../fairness/sliced-work.ts'
import { NOT_HTTP } from '../head/client-error.ts'
import type { BodyMemory } from './body-memory.ts'
import { type GunzipTask, startGunzip } from './gunzip.ts'
import { ReceivedChunks } from './received-chunks.ts'
import { costOf, pauseReading, resumeReading, wantBody } from './received-request.ts'

/** The part of a body that is read as it comes; short chunks count as a KiB each. A caller with long bodies would otherwise keep the event loop busy with reading them. */
const FREE_BYTES = 256 * 1024
/** What is read of the rest in one turn, by two reads of the socket. */
const TURN_BYTES = 128 * 1024
/** How much of a body has arrived when its beginning is checked. */
const BEGINNING_BYTES = 512 * 1024

/** Looks through the beginning of a body while nothing more of it is read. Rejects with the fault that refuses the whole. */
export type BeginningCheck = (beginning: Buffer) => Promise<void>

export interface BodyReader {
  /** The whole body, decompressed; a promise if it has not all arrived. Rejects with the fault to answer. */
  readonly bytes: Buffer | Promise<Buffer>
  /** How much of the body has arrived, before decompression. */
  readonly progress: BodyProgress
  /** Stops reading and rejects `bytes` with the fault: the body arrives too slowly, or the caller is gone. */
  fail(fault: Fault): void
}

export interface BodyProgress {
  readonly received: number
  /** How long nothing was read, in milliseconds, because others had their turns in the event loop. A pause that lasts counts. */
  readonly pausedMs: number
  /** The length in the request's head; undefined: a body in chunks. */
  readonly length: number | undefined
}

/**
 * Reads a request's body of up to `limit` bytes, measured before and after decompression. Bytes that are not read stay
 * on the connection: a response sent before the end of the body must close it (see `hasUnreadBody`). `memory` reserves a
 * body whose length is in its head before it is read, others as they arrive, and what gzip unpacks.
 * `owner`: whose turns in the event loop reading and unpacking a long body takes. `check`: of a long body that is not compressed.
 */
export function readBody(
  req: IncomingMessage,
  limit: number,
  memory: BodyMemory | undefined,
  owner = UNKNOWN_OWNER,
  check?: BeginningCheck,
): BodyReader {
  const arrived = req.complete ? takeArrived(req) : undefined
  const encoding = req.headers['content-encoding']
  const plainCheck = encoding === undefined ? check : undefined
  const reader =
    arrived === undefined ? receive(req, limit, memory, owner, plainCheck) : toReader(arrived, limit, memory)
  return encoding === undefined
    ? reader
    : decode(reader, encoding, packed =>
        startGunzip(packed, { limit, tooLarge: () => tooLarge(limit), memory, owner }),
      )
}

function toReader(arrived: Buffer, limit: number, memory: BodyMemory | undefined): BodyReader {
  const { length } = arrived
  const fault = length > limit ? tooLarge(limit) : memory?.acquire(length)
  const bytes = fault === undefined ? arrived : Promise.reject(fault)
  return { bytes, progress: { received: length, pausedMs: 0, length }, fail: ignore }
}

function ignore(): void {}

class Progress implements BodyProgress {
  received = 0
  readonly length: number | undefined
  #pausedMs = 0
  #pausedAt: number | undefined

  constructor(length: number | undefined) {
    this.length = length
  }

  get pausedMs(): number {
    return this.#pausedAt === undefined ? this.#pausedMs : this.#pausedMs + performance.now() - this.#pausedAt
  }

  pause(): void {
    this.#pausedAt = performance.now()
  }

  resume(): void {
    this.#pausedMs = this.pausedMs
    this.#pausedAt = undefined
  }
}

function receive(
  req: IncomingMessage,
  limit: number,
  memory: BodyMemory | undefined,
  owner: ShareOwner,
  check: BeginningCheck | undefined,
): BodyReader {
  const header = req.headers['content-length']
  const length = header === undefined ? undefined : Number(header)
  const progress = new Progress(length)
  let fail: (fault: Fault) => void = ignore
  const bytes = new Promise<Buffer>((resolve, reject) => {
    const chunks = new ReceivedChunks()
    let isStopped = false
    let nextTurnAt = FREE_BYTES
    let nextCheck = check
    const stop = (): void => {
      isStopped = true
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
      progress.received = chunks.size
      if (chunks.size > limit) return fail(tooLarge(limit))
      const fault = length === undefined ? memory?.acquire(chunk.length) : undefined
      if (fault !== undefined) return fail(fault)
      const cost = costOf(req, chunks.size)
      if (cost <= nextTurnAt || chunks.size === length) return
      nextTurnAt = cost + TURN_BYTES
      void waitForTurn()
    }
    const waitForTurn = async (): Promise<void> => {
      progress.pause()
      req.pause()
      pauseReading(req)
      await takeTurn(owner)
      if (nextCheck !== undefined && chunks.size >= BEGINNING_BYTES && !isStopped) {
        const checking = nextCheck(chunks.copy())
        nextCheck = undefined
        // That a body in chunks is too long is told before all else that is wrong with it.
        await checking.catch((fault: Fault) => {
          if (length !== undefined || fault.code === 'request_too_large') fail(fault)
        })
      }
      progress.resume()
      if (!isStopped) req.resume()
      resumeReading(req)
    }
    const onEnd = (): void => {
      stop()
      batchInTick(() => resolve(chunks.join(owner)), reject)
    }
    const onError = (cause: Error): void => {
      stop()
      reject(new Fault('request_canceled', 'The connection closed before the body was complete.', { cause }))
    }
    if (length !== undefined && length > limit) return fail(tooLarge(limit))
    const reason = whyGivenUp(req)
    if (reason !== undefined) return fail(toFault(reason))
    if (req.destroyed) return onError(new Error('the connection is closed'))
    const fault = length === undefined ? undefined : memory?.acquire(length)
    if (fault !== undefined) return fail(fault)
    wantBody(req)
    req.on('data', onData)
    req.on('end', onEnd)
    req.on('error', onError)
  })
  return { bytes, progress, fail }
}

function toFault(reason: GivenUpFor): Fault {
  return reason === 'framing'
    ? new Fault('request_too_large', 'Too much of the body is framing. Send it in longer chunks.')
    : new Fault('request_validation_failed', NOT_HTTP)
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

function decode(packed: BodyReader, encoding: string, start: (packed: Buffer) => GunzipTask): BodyReader {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return packed
  if (name !== 'gzip' && name !== 'x-gzip') return toRefused(packed)
  let stopped: Fault | undefined
  let unpacking: GunzipTask | undefined
  const unpack = (bytes: Buffer): Promise<Buffer> => {
    unpacking = start(bytes)
    if (stopped !== undefined) unpacking.stop(stopped)
    return unpacking.bytes
  }
  return {
    bytes: packed.bytes instanceof Promise ? packed.bytes.then(unpack) : unpack(packed.bytes),
    progress: packed.progress,
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
      { param: 'Content-Encoding' },
    )
  }
  const { progress, fail } = packed
  return { bytes: Promise.resolve(packed.bytes).then(refuse), progress, fail }
}

function tooLarge(limit: number): Fault {
  const kib = limit / 1024
  return new Fault(
    'request_too_large',
    `The body must have at most ${kib < 1024 ? `${kib} KiB` : `${Math.floor(kib / 1024)} MiB`}.`,
  )
}
