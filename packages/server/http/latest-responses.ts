import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * The response in progress of each connection, for `answerClientError`: Node reports a parser's error with the socket
 * alone. A closed response is forgotten at once. Otherwise every idle connection would keep its last request and all
 * that belongs to it alive until the next request, and the garbage collector would copy them over and over.
 */
export class LatestResponses {
  readonly #responses = new WeakMap<object, ServerResponse | undefined>()

  /** Makes `res` the latest response of its connection until it closes. */
  add(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req
    this.#responses.set(socket, res)
    res.once('close', () => {
      // A pipelined request may have arrived before this response closed.
      if (this.#responses.get(socket) === res) this.#responses.set(socket, undefined)
    })
  }

  /** Returns the latest response of a connection unless it closed. */
  of(socket: Duplex): ServerResponse | undefined {
    return this.#responses.get(socket)
  }
}
