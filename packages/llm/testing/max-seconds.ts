import { measureSeconds } from '../audio/audio-length.ts'

/** Returns the most seconds that an audio file can have, measured at once. */
export function maxSeconds(file: Buffer): number {
  const steps = measureSeconds(file)
  let next = steps.next()
  while (next.done !== true) next = steps.next()
  return next.value
}
