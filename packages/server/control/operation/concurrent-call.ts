import { Fault } from '../../core/fault.ts'

/** Returns the fault of a call that changed nothing, because another call of the same moment was first. The caller may repeat it at once. */
export function anotherCallWasFirst(cause?: unknown): Fault {
  const message = 'Another call of the same moment was first, and this one changed nothing. Repeat the call.'
  return new Fault('resource_conflict', message, { retryAfterSeconds: 1, cause })
}
