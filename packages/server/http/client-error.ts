import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Fault } from '../core/fault.ts'
import { faultHeaders } from './envelope.ts'
import { toSafe } from './write-head.ts'

/** Header blocks above this are refused (contract.md §1). */
export const MAX_HEADER_BYTES = 16 * 1024

/** What a caller is told, and the headers that go with it besides those of every answer. */
export type BrokenAnswer = (
  fault: Fault,
  requestId: string,
) => { readonly body: object; readonly headers?: readonly (readonly [string, string])[] }

/**
 * Answers what Node's HTTP parser refuses before there is a request: no route, no hook and no reply object exist yet,
 * so the answer is written to the socket itself. `answer` is the response to the connection's last request: while one is
 * under way nothing is written, because it would stand in the middle of it or be taken for it.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  answer: ServerResponse | undefined,
  newId: () => string,
  render: BrokenAnswer,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  if (answer !== undefined && !answer.writableFinished && !isOfOwnRequest(answer, socket)) {
    endAfter(answer, socket)
    return
  }
  const fault = toParserFault(error.code)
  const requestId = newId()
  const { body, headers = [] } = render(fault, requestId)
  const text = JSON.stringify(body)
  const safe = toSafe([
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(text)),
    'X-Request-Id',
    requestId,
    'Cache-Control',
    'no-store',
    'Connection',
    'close',
    ...Object.entries(faultHeaders(fault)).flat(),
    ...headers.flat(),
  ])
  let head = `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n`
  for (let at = 0; at < safe.length; at += 2) head += `${safe[at]}: ${safe[at + 1]}\r\n`
  socket.end(`${head}\r\n${text}`)
}

/** True where the rest of the request that waits for this answer is what broke, and no other answer goes out before it. */
export function isOfOwnRequest(answer: ServerResponse, socket: Duplex): boolean {
  return !answer.req.complete && !answer.headersSent && answer.socket === socket
}

/**
 * Ends the connection behind the answers that are under way, of which `answer` is the last. A request that is not whole will
 * never be: its connection ends at once. Node reports every further chunk of a broken connection; the first call counts.
 */
function endAfter(answer: ServerResponse, socket: Duplex): void {
  if (!answer.req.complete) {
    socket.destroy()
    return
  }
  // Node itself ends the connection behind an answer that says "Connection: close".
  if (!answer.shouldKeepAlive) return
  answer.shouldKeepAlive = false
  answer.once('finish', () => socket.end(() => socket.destroy()))
}

function toParserFault(code: string | undefined): Fault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Fault('request_too_large', 'The header block is over 16 KiB.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Fault('request_timeout', 'The request came too slowly.')
    default:
      return new Fault('request_validation_failed', 'This is not a well-formed HTTP request.')
  }
}
