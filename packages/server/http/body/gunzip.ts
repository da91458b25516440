import { createGunzip } from 'node:zlib'
import { ConnectionShares, type ShareOwner } from '../../core/admission/connection-shares.ts'
import { Fault } from '../../core/fault.ts'
import { loopTurns, UNKNOWN_OWNER } from '../fairness/loop-turns.ts'
import { takeTurn } from '../fairness/sliced-work.ts'
import type { BodyMemory } from './body-memory.ts'
import { ReceivedChunks } from './received-chunks.ts'

/** Any input may unpack to this size, without waiting for other bodies. */
const FREE_BYTES = 1024 * 1024
/** The largest ratio of output to input above FREE_BYTES. Text compresses 3 to 20 times, a zip bomb a thousand times. */
const MAX_RATIO = 100
/** How many bodies above FREE_BYTES may be unpacked at the same time: each takes up to its limit of memory. */
const MAX_AT_ONCE = 4
const CHUNK_BYTES = 64 * 1024
/** The least that a chunk costs, however short it is: a body may have a member for each byte. */
const MIN_CHUNK_BYTES = 1_024
/** What a thread takes for a chunk of text that hardly compresses. The event loop is not blocked meanwhile, but threads share the processors with it. */
const CHUNK_MS = 0.3

export interface GunzipTask {
  /** The unpacked body. Rejects with a fault if it exceeds `limit` or the ratio, or is not valid gzip. */
  readonly bytes: Promise<Buffer>
  /** Stops unpacking and rejects `bytes` with the fault. */
  stop(fault: Fault): void
}

export interface GunzipOptions {
  /** The most bytes of the unpacked body. */
  readonly limit: number
  readonly tooLarge: () => Fault
  readonly memory?: BodyMemory | undefined
  readonly owner?: ShareOwner
}

/** Unpacks a gzip body in chunks and stops at the chunk that exceeds a limit or that `memory` has no room for. */
export function startGunzip(
  packed: Buffer,
  { limit, tooLarge, memory, owner = UNKNOWN_OWNER }: GunzipOptions,
): GunzipTask {
  const stream = createGunzip({ chunkSize: CHUNK_BYTES })
  let stop: (fault: Fault) => void = () => {}
  const bytes = new Promise<Buffer>((resolve, reject) => {
    const chunks = new ReceivedChunks()
    let permit: UnpackPermit | undefined
    const end = (): void => {
      stream.destroy()
      permit?.release()
    }
    stop = fault => {
      end()
      reject(fault)
    }
    let unwaitedBytes = 0
    const waitForNext = (): void => {
      unwaitedBytes = 0
      stream.pause()
      loopTurns.spend(CHUNK_MS, owner)
      const go = (): void => void takeTurn(owner).then(() => stream.resume())
      if (chunks.size > FREE_BYTES && permit === undefined) permit = acquirePermit(owner, go)
      else go()
    }
    stream.on('data', (chunk: Buffer) => {
      if (stream.destroyed) return
      chunks.add(chunk)
      const { size } = chunks
      const fault = memory?.acquire(chunk.length)
      if (fault !== undefined) stop(fault)
      else if (size > limit) stop(tooLarge())
      else if (size > FREE_BYTES && size > MAX_RATIO * stream.bytesWritten) stop(overRatio())
      else {
        unwaitedBytes += Math.max(chunk.length, MIN_CHUNK_BYTES)
        if (unwaitedBytes >= CHUNK_BYTES) waitForNext()
      }
    })
    stream.on('end', () => {
      end()
      resolve(chunks.join(owner))
    })
    stream.on('error', cause => {
      stop(new Fault('request_validation_failed', 'The body is not valid gzip.', { cause }))
    })
    stream.end(packed)
  })
  return { bytes, stop: fault => stop(fault) }
}

function overRatio(): Fault {
  return new Fault(
    'request_too_large',
    `The body unpacks to more than 1 MiB and ${MAX_RATIO} times its size. Send it without compression.`,
  )
}

interface UnpackPermit {
  release(): void
}

/** Who unpacks, and who waits for that. */
const unpackers = new ConnectionShares<() => void>(MAX_AT_ONCE)

/** Calls `onAcquired` once the owner may unpack a further body. Those who wait have turns, as for connections. */
function acquirePermit(owner: ShareOwner, onAcquired: () => void): UnpackPermit {
  const share = unpackers.openShare(owner, '')
  let isAcquired = unpackers.take(share)
  const enter = (): void => {
    isAcquired = true
    onAcquired()
  }
  if (isAcquired) onAcquired()
  else unpackers.wait(share, enter)
  return {
    release() {
      if (!isAcquired) return unpackers.withdraw(share, enter)
      isAcquired = false
      unpackers.release(share)
      for (let next = unpackers.next(); next !== undefined; next = unpackers.next()) next()
    },
  }
}
