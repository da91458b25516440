import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { toEnvelope } from '@rideau/llm/formats/shared/errors/error-envelope'
import type { OnException } from '../core/on-exception.ts'
import { CheckedResponse } from '../http/answer/checked-response.ts'
import { boundFraming } from '../http/body/bound-framing.ts'
import { ReceivedRequest } from '../http/body/received-request.ts'
import { batchInTick } from '../http/fairness/batch-in-tick.ts'
import { ALL_HEADERS, UNCHECKED_HEAD } from '../http/head/check-head.ts'
import { answerClientError, answerConnect, MAX_HEADER_BYTES } from '../http/head/client-error.ts'
import { RequestLines } from '../http/head/request-lines.ts'

/** Fastify's request handler. */
type Handler = (req: IncomingMessage, res: ServerResponse) => void

export interface HttpServerOptions {
  readonly requestTimeoutMs: number
  readonly newId: () => string
  readonly baseUrl: () => string
  readonly onException: OnException
}

/** Longer than load balancers keep idle connections open, so that they close first. */
const KEEP_ALIVE_MS = 72_000

/**
 * Creates the HTTP server under Fastify. Fastify's event handlers do not catch exceptions; here an exception ends one
 * connection instead of the process. Pass `answerBroken` to Fastify as its `clientErrorHandler`.
 */
export function createHttpServer({ requestTimeoutMs, newId, baseUrl, onException }: HttpServerOptions) {
  const onResponseError = (error: Error): void => onException(error, 'a response of the control plane')
  let lines: RequestLines | undefined
  const answerBroken = (error: Error, socket: Duplex): void => {
    try {
      answerClientError(error, socket, lines?.latest(socket), newId, (fault, requestId) => ({
        body: toEnvelope(fault, requestId, baseUrl()),
      }))
    } catch (another) {
      onException(another, 'the answer to a broken call')
      socket.destroy()
    }
  }
  return {
    serverFactory(handle: Handler): Server {
      const options = {
        ...UNCHECKED_HEAD,
        maxHeaderSize: MAX_HEADER_BYTES,
        keepAliveTimeout: KEEP_ALIVE_MS,
        // A backstop behind the app's own timer: it also ends header blocks and rejected bodies that never end.
        requestTimeout: requestTimeoutMs,
        connectionsCheckingInterval: 5_000,
        IncomingMessage: ReceivedRequest,
        ServerResponse: CheckedResponse,
      }
      const opened = new RequestLines((req, res) => {
        // A write after the end emits an error event, which would end the process without a listener.
        res.on('error', onResponseError)
        batchInTick(
          () => handle(req, res),
          error => {
            onException(error, 'the arrival of a call')
            res.destroy()
          },
        )
      })
      lines = opened
      const receive = (req: IncomingMessage, res: ServerResponse): void => opened.add(req, res)
      // Node answers unknown expectations by itself without a listener. checkHead refuses them (server.ts).
      const server = http.createServer(options, receive).on('checkExpectation', receive)
      server.maxHeadersCount = ALL_HEADERS
      boundFraming(server, opened)
      answerConnect(server, answerBroken)
      return server
    },
    answerBroken,
  }
}
