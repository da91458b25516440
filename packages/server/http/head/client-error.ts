import { METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Fault } from '../../core/fault.ts'
import { faultHeaders } from '../answer/envelope.ts'
import { isSent } from '../answer/is-sent.ts'
import { toSafe } from '../answer/write-head.ts'
import { hasGivenUp } from '../connection/given-up.ts'

/** The largest accepted header block; a larger one is answered with 413 `request_too_large`. */
export const MAX_HEADER_BYTES = 16 * 1024

/** What Node's HTTP parser rejects: its own error, or a request with the method CONNECT, for which Node has no response. */
export interface ClientError extends Error {
  readonly code?: string | undefined
  /** The bytes that were being parsed. */
  readonly rawPacket?: Buffer
}

const CONNECT = 'RIDEAU_CONNECT'
/** The code of an error by `boundFraming`. */
export const FRAMING = 'RIDEAU_FRAMING'
/** Node's code for a client that ends its side of the connection within a request. */
const END_OF_FILE = 'HPE_INVALID_EOF_STATE'
export const NOT_HTTP = 'This is not a well-formed HTTP request.'
const NO_METHOD = 'No route has this method.'

/** Has requests with the method CONNECT answered as an error of the parser. Without it Node closes their connections. */
export function answerConnect(server: Server, answer: (error: Error, socket: Duplex) => void): void {
  server.on('connect', (_req, socket) => {
    // Node has taken its own listeners off the socket.
    socket.on('error', () => socket.destroy())
    socket.once('finish', () => socket.destroy())
    answer(Object.assign(new Error('a request with the method CONNECT'), { code: CONNECT }), socket)
  })
}

/** Renders a fault as a response body, with the headers that the server adds to every response. */
export type BrokenAnswer = (
  fault: Fault,
  requestId: string,
) => { readonly body: object; readonly headers?: readonly (readonly [string, string])[] }

/**
 * Answers a request that Node's HTTP parser rejects. No request or response object exists at that point, so the
 * response is written to the socket. `answer` is the response to the connection's latest request. While that response
 * is in progress nothing is written: the bytes would end up inside it or be read as the response to it.
 */
export function answerClientError(
  error: ClientError,
  socket: Duplex,
  answer: ServerResponse | undefined,
  newId: () => string,
  render: BrokenAnswer,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const isOwn = answer !== undefined && isOfOwnRequest(answer, socket)
  if (answer !== undefined && !isSent(answer) && !isOwn) {
    endAfter(answer, socket, error)
    return
  }
  // The request has its answer already, and another would be read as the answer to the next one. `boundFraming` destroys the socket.
  if (answer === undefined && hasGivenUp(socket)) {
    socket.end()
    return
  }
  const fault = toParserFault(error)
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
    'Connection',
    'close',
    ...Object.entries(faultHeaders(fault)).flat(),
    ...headers.flat(),
  ])
  let head = `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n`
  for (let at = 0; at < safe.length; at += 2) head += `${safe[at]}: ${safe[at + 1]}\r\n`
  // Behind an answer to HEAD a body would be read as another answer.
  socket.end(`${head}\r\n${isOwn && answer.req.method === 'HEAD' ? '' : text}`)
}

/**
 * True if the parser failed within the body of the very request that `answer` belongs to, and nothing of `answer` was
 * sent.
 */
export function isOfOwnRequest(answer: ServerResponse, socket: Duplex): boolean {
  return !answer.req.complete && !answer.headersSent && answer.socket === socket
}

/**
 * Closes the connection after the responses in progress, of which `answer` is the last. If that request is incomplete,
 * it can never complete and the connection closes at once. `boundFraming` closes one that was given up a little later, so that an answer
 * that was just sent reaches a client that is there. Node emits one error for every further chunk of a broken connection, unless that
 * reads no more of it; only the first call has an effect.
 */
function endAfter(answer: ServerResponse, socket: Duplex, { code }: ClientError): void {
  if (!answer.req.complete && (code === END_OF_FILE || !hasGivenUp(socket))) {
    socket.destroy()
    return
  }
  // Node itself closes the connection after a response with "Connection: close".
  if (!answer.shouldKeepAlive) return
  answer.shouldKeepAlive = false
  answer.once('finish', () => socket.end(() => socket.destroy()))
}

/** Node's parser refuses methods that it does not know, but HTTP has no closed list of them. */
const METHOD_AND_PATH = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) \//

/** A packet that begins with a method that Node knows has a whole request before what is broken. */
function beginsWithOtherMethod(packet: Buffer | undefined): boolean {
  const [, method] = METHOD_AND_PATH.exec(packet?.toString('latin1', 0, 80) ?? '') ?? []
  return method !== undefined && !METHODS.includes(method)
}

function toParserFault({ code, rawPacket }: ClientError): Fault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Fault('request_too_large', 'The header block must have at most 16 KiB.')
    case FRAMING:
      return new Fault('request_too_large', 'The request has too many bytes that are neither head nor body.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Fault('request_timeout', 'The request did not arrive in time.')
    case CONNECT:
      return new Fault('route_not_found', NO_METHOD)
    case 'HPE_INVALID_METHOD':
      if (beginsWithOtherMethod(rawPacket)) return new Fault('route_not_found', NO_METHOD)
  }
  return new Fault('request_validation_failed', NOT_HTTP)
}
