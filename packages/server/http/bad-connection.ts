import type { Duplex } from 'node:stream'
import { Fault } from '../core/fault.ts'
import { toEnvelope } from './envelope.ts'

/** Header blocks above this are refused (contract.md §1). */
export const MAX_HEADER_BYTES = 16 * 1024

/**
 * Answers what node's parser refused before there was a request: the same envelope, then the connection closes.
 * For `server.on('clientError')`.
 */
export function answerBadConnection(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  requestId: string,
  baseUrl: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const fault = toConnectionFault(error.code)
  const body = JSON.stringify(toEnvelope(fault, requestId, baseUrl))
  socket.end(
    [
      `HTTP/1.1 ${fault.status} ${REASONS[fault.status] ?? 'Error'}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
}

function toConnectionFault(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Fault('request_too_large', 'The header block is over 16 KiB.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('request_timeout', 'The request came too slowly.')
  return new Fault('request_validation_failed', 'The request is not valid HTTP.')
}
