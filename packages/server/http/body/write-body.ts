import type { SentBody, UnwrittenBody } from '@rideau/llm/json/unwritten-json'
import { Fault } from '../../core/fault.ts'
import type { WorkOwner } from '../fairness/loop-turns.ts'
import { runInSlices } from '../fairness/sliced-work.ts'
import { ReceivedChunks } from './received-chunks.ts'

/**
 * The bound of a request as it is written, whatever multiplies what it has. The largest that callers need takes about 91 MiB: a body of
 * 32 MiB, of which each character is escaped once more where JSON stands in a string, and fetched images of 20 MiB in base64.
 */
export const WRITTEN_REQUEST_BYTES = 128 * 1024 * 1024

/**
 * Returns the bytes of a body; a promise if it is so long that it is written in the owner's turns in the event loop. `isUnwanted`
 * ends that early, and the bytes are then worth nothing. Rejects with `request_too_large` above `maxBytes`, which only a body that is
 * written in turns can have.
 */
export function writeBody(
  body: SentBody,
  owner: WorkOwner,
  isUnwanted: () => boolean = never,
  maxBytes = Number.POSITIVE_INFINITY,
): Buffer | Promise<Buffer> {
  return 'pieces' in body ? writeInSlices(body, owner, isUnwanted, maxBytes) : body
}

async function writeInSlices(
  body: UnwrittenBody,
  owner: WorkOwner,
  isUnwanted: () => boolean,
  maxBytes: number,
): Promise<Buffer> {
  const pieces = body.pieces()
  const written = new ReceivedChunks()
  const step = (): boolean => {
    const { done, value } = pieces.next()
    if (done === true) return true
    if (written.size + value.length > maxBytes) throw tooLarge(maxBytes)
    written.add(value)
    return false
  }
  await runInSlices({ step }, isUnwanted, owner)
  return written.join(owner)
}

function tooLarge(maxBytes: number): Fault {
  const message = `The request has more than ${maxBytes} bytes in the format in which it is sent on.`
  return new Fault('request_too_large', message)
}

const never = (): boolean => false
