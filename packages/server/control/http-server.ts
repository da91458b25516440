import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { toEnvelope } from '@rideau/llm/formats/native/server/encode-error'
import type { OnException } from '../core/on-exception.ts'
import { CheckedResponse } from '../http/checked-response.ts'
import { answerClientError, MAX_HEADER_BYTES } from '../http/client-error.ts'

/** What Fastify gives of itself. */
type Handler = (req: IncomingMessage, res: ServerResponse) => void

export interface HttpServerOptions {
  readonly requestTimeoutMs: number
  readonly newId: () => string
  readonly baseUrl: () => string
  readonly onException: OnException
}

/** Above what load balancers keep idle connections for, so that they close first. */
const KEEP_ALIVE_MS = 72_000

/**
 * The HTTP server under Fastify, in whose events nothing catches what is thrown: here an exception ends one connection.
 * `answerBroken` belongs to Fastify's `clientErrorHandler`.
 */
export function createHttpServer({ requestTimeoutMs, newId, baseUrl, onException }: HttpServerOptions) {
  /** The last response of each connection: nothing may be written into the middle of it. */
  const answers = new WeakMap<object, ServerResponse>()
  const onResponseError = (error: Error): void => onException(error, 'a response of the control plane')
  return {
    serverFactory(handle: Handler): Server {
      const options = {
        maxHeaderSize: MAX_HEADER_BYTES,
        keepAliveTimeout: KEEP_ALIVE_MS,
        // A backstop behind our own timer: it also ends header blocks and refused bodies that never end.
        requestTimeout: requestTimeoutMs,
        connectionsCheckingInterval: 5_000,
        ServerResponse: CheckedResponse,
      }
      return http.createServer(options, (req, res) => {
        answers.set(req.socket, res)
        // A write behind the end is an event, and one without a listener would end the process.
        res.on('error', onResponseError)
        try {
          handle(req, res)
        } catch (error) {
          onException(error, 'the arrival of a call')
          res.destroy()
        }
      })
    },
    answerBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
      try {
        answerClientError(error, socket, answers.get(socket), newId, (fault, requestId) => ({
          body: toEnvelope(fault, requestId, baseUrl()),
        }))
      } catch (another) {
        onException(another, 'the answer to a broken call')
        socket.destroy()
      }
    },
  }
}
