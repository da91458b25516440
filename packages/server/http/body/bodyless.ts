import { Fault } from '../../core/fault.ts'

/**
 * Returns the fault for a body that a route without a body could not read. Its bound is far below that of other routes,
 * so that a body over it is one that the route does not take, rather than too large.
 */
export function toBodylessFault(thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.code !== 'request_too_large') return thrown
  return new Fault('invalid_request', 'This route takes no body.')
}
