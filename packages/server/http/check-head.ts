import type { IncomingMessage } from 'node:http'
import { Fault } from '../core/fault.ts'

/**
 * Server options that leave the checks of `Host` to checkHead: Node's own answer has neither a request id nor an error
 * envelope. Unknown expectations come by the event 'checkExpectation'.
 */
export const UNCHECKED_HEAD = { requireHostHeader: false } as const

/** The expectation that Node itself meets, as Node matches it. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/**
 * Returns the fault of a request that HTTP/1.1 does not allow: one without `Host`, or with an expectation that the
 * server cannot meet. Close the connection after its answer.
 */
export function checkHead({ headers, httpVersion }: IncomingMessage): Fault | undefined {
  // HTTP/1.0 has neither rule.
  if (httpVersion === '1.0') return undefined
  const { host, expect } = headers
  if (host === undefined) {
    return new Fault('request_validation_failed', 'HTTP/1.1 needs the header Host.', { param: 'Host' })
  }
  if (expect === undefined || CONTINUE.test(expect)) return undefined
  return new Fault('request_validation_failed', 'Expect: the one expectation that is met is 100-continue.', {
    param: 'Expect',
  })
}
