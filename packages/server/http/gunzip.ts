import { createGunzip } from 'node:zlib'
import { Fault } from '../core/fault.ts'
import { ReceivedChunks } from './received-chunks.ts'

/** So much may come of any input, and is unpacked without waiting for others. */
const FREE_BYTES = 1024 * 1024
/** Beyond, output may be at most so many times the input so far. Text packs 3 to 20 times, a bomb a thousand. */
const MAX_RATIO = 100
/** How many bodies may be unpacked beyond the free bytes at once: each has up to its limit in memory. */
const MAX_AT_ONCE = 4
const CHUNK_BYTES = 64 * 1024

export interface Unpacking {
  /** Rejects with the fault to answer: more than `limit` bytes, too high a ratio, or no gzip. */
  readonly bytes: Promise<Buffer>
  /** Ends it with a fault. */
  stop(fault: Fault): void
}

/** Unpacks piece by piece, and stops at the piece that goes beyond what is allowed. */
export function startGunzip(packed: Buffer, limit: number, tooLarge: () => Fault): Unpacking {
  const stream = createGunzip({ chunkSize: CHUNK_BYTES })
  let stop: (fault: Fault) => void = () => {}
  const bytes = new Promise<Buffer>((resolve, reject) => {
    const chunks = new ReceivedChunks()
    let place: Place | undefined
    const end = (): void => {
      stream.destroy()
      place?.leave()
    }
    stop = fault => {
      end()
      reject(fault)
    }
    stream.on('data', (chunk: Buffer) => {
      if (stream.destroyed) return
      chunks.add(chunk)
      const { size } = chunks
      if (size > limit) stop(tooLarge())
      else if (size > FREE_BYTES && size > MAX_RATIO * stream.bytesWritten) stop(overRatio())
      else if (size > FREE_BYTES && place === undefined) {
        stream.pause()
        place = takePlace(() => stream.resume())
      }
    })
    stream.on('end', () => {
      end()
      resolve(chunks.join())
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

interface Place {
  leave(): void
}

let taken = 0
const waiting = new Set<() => void>()

/** Calls back once fewer than MAX_AT_ONCE have a place, first come first served. */
function takePlace(onPlace: () => void): Place {
  let isTaken = false
  const enter = (): void => {
    isTaken = true
    taken++
    onPlace()
  }
  if (taken < MAX_AT_ONCE) enter()
  else waiting.add(enter)
  return {
    leave() {
      waiting.delete(enter)
      if (!isTaken) return
      isTaken = false
      taken--
      const [next] = waiting
      if (next === undefined) return
      waiting.delete(next)
      next()
    },
  }
}
