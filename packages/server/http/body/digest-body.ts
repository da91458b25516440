import { createHash } from 'node:crypto'
import type { WorkOwner } from '../fairness/loop-turns.ts'
import { runInSlices } from '../fairness/sliced-work.ts'

/** What is digested at once: with the instructions of newer processors a tenth of a millisecond, without them almost one. */
const PIECE = 256 * 1024

/**
 * Returns the SHA-256 of a body in hex, which is computed in the owner's turns in the event loop. `isUnwanted` ends that early, and the
 * digest is then worth nothing.
 */
export async function digestBody(body: Buffer, owner: WorkOwner, isUnwanted: () => boolean): Promise<string> {
  const digest = createHash('sha256')
  let at = 0
  const step = (): boolean => {
    digest.update(body.subarray(at, at + PIECE))
    at += PIECE
    return at >= body.length
  }
  await runInSlices({ step }, isUnwanted, owner)
  return digest.digest('hex')
}
