import type { SentBody, UnwrittenBody } from '@rideau/llm/json/unwritten-json'
import type { WorkOwner } from '../fairness/loop-turns.ts'
import { runInSlices } from '../fairness/sliced-work.ts'
import { ReceivedChunks } from './received-chunks.ts'

/**
 * Returns the bytes of a body; a promise if it is so long that it is written in the owner's turns in the event loop. `isUnwanted`
 * ends that early, and the bytes are then worth nothing.
 */
export function writeBody(
  body: SentBody,
  owner: WorkOwner,
  isUnwanted: () => boolean = never,
): Buffer | Promise<Buffer> {
  return 'pieces' in body ? writeInSlices(body, owner, isUnwanted) : body
}

async function writeInSlices(
  body: UnwrittenBody,
  owner: WorkOwner,
  isUnwanted: () => boolean,
): Promise<Buffer> {
  const pieces = body.pieces()
  const written = new ReceivedChunks()
  const step = (): boolean => {
    const { done, value } = pieces.next()
    if (done === true) return true
    written.add(value)
    return false
  }
  await runInSlices({ step }, isUnwanted, owner)
  return written.join(owner)
}

const never = (): boolean => false
