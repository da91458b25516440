import type { IncomingMessage } from 'node:http'
import { Fault } from '../core/fault.ts'

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
export function checkHead({ headers, rawHeaders, httpVersion }: IncomingMessage): Fault | undefined {
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
  if (hasTwoHosts(rawHeaders)) {
    return new Fault('request_validation_failed', 'The header Host may be sent once only.', { param: 'Host' })
  }
  if (expect === undefined || CONTINUE.test(expect)) return undefined
  return new Fault('request_validation_failed', 'Expect: the one expectation that is met is 100-continue.', {
    param: 'Expect',
  })
}

/** `rawHeaders` has names and values by turns. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}
