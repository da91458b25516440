import type { IncomingMessage } from 'node:http'
import { Fault } from '../../core/fault.ts'
import { isRepeatedHeader } from './is-repeated-header.ts'

/**
 * Server options that leave the checks of `Host` to checkHead: Node's own answer has neither a request id nor an error
 * envelope. Unknown expectations come by the event 'checkExpectation'.
 */
export const UNCHECKED_HEAD = { requireHostHeader: false } as const

/** Node ignores headers after the first 1,000. All of a header block count, so that none is hidden from a check. */
export const ALL_HEADERS = 0

/** The expectation that Node itself meets, as Node matches it. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/**
 * Returns the fault of a request that HTTP/1.1 does not allow: one without `Host` or with two, with a transfer coding other than
 * `chunked`, or with an expectation that the server cannot meet. Close the connection after its answer.
 */
export function checkHead(req: IncomingMessage): Fault | undefined {
  const { headers, httpVersion } = req
  const coding = headers['transfer-encoding']
  // Node reads the chunks and ignores other codings. A proxy in front may have read another body.
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return new Fault('request_validation_failed', 'The one Transfer-Encoding is chunked, in HTTP/1.1.', {
      param: 'Transfer-Encoding',
    })
  }
  // HTTP/1.0 has neither of the other rules.
  if (httpVersion === '1.0') return undefined
  const { host, expect } = headers
  if (host === undefined) {
    return new Fault('request_validation_failed', 'HTTP/1.1 needs the header Host.', { param: 'Host' })
  }
  // Node keeps the first. A proxy in front may have gone by the other.
  if (isRepeatedHeader(req, 'host')) {
    return new Fault('request_validation_failed', 'The header Host may be sent once only.', { param: 'Host' })
  }
  if (expect === undefined || CONTINUE.test(expect)) return undefined
  return new Fault('request_validation_failed', 'Expect: the one expectation that is met is 100-continue.', {
    param: 'Expect',
  })
}
