import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Fault } from '../core/fault.ts'
import { faultHeaders } from './envelope.ts'

/** Header blocks above this are refused (contract.md §1). */
export const MAX_HEADER_BYTES = 16 * 1024

/** What a caller is told, and the headers that go with it besides those of every answer. */
export type BrokenAnswer = (
  fault: Fault,
  requestId: string,
) => { readonly body: object; readonly headers?: readonly (readonly [string, string])[] }

/**
 * Answers what Node's HTTP parser refuses before there is a request: no route, no hook and no reply object exist yet,
 * so the answer is written to the socket itself. `isAnswering`: bytes of another answer are on the way, and nothing
 * sensible may follow them.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  isAnswering: boolean,
  newId: () => string,
  render: BrokenAnswer,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy()
    return
  }
  const fault = toParserFault(error.code)
  const requestId = newId()
  const answer = render(fault, requestId)
  const body = JSON.stringify(answer.body)
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...faultHeaders(fault),
    ...Object.fromEntries(answer.headers ?? []),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
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
