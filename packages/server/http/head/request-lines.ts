import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { hasGivenUp, isStalled } from '../connection/given-up.ts'
import { type NodeParser, parserOf, STOP } from '../connection/node-parser.ts'

/** Requests that may wait on one connection for the answers to earlier ones. */
export const MAX_WAITING = 16

/** Serves a request. Must not throw. */
type Serve = (req: IncomingMessage, res: ServerResponse) => void

interface ReceivedRequest {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

interface Line {
  /** The last response that did not close. A closed one is forgotten at once: an idle connection would keep its last request alive. */
  latest: ServerResponse | undefined
  /** The response in progress: the earliest that did not close. */
  current: ServerResponse | undefined
  readonly waiting: ReceivedRequest[]
  /** The parser's own function while the line is full. */
  onIncoming: NodeParser['onIncoming']
}

const stop = (): number => STOP

/**
 * The requests of each connection, served one after the other: one that was pipelined waits until the answers before it were
 * sent. Node hands out all requests of a read of the socket at once, up to 2,400 of them, before any of them was answered.
 * When MAX_WAITING of them wait, the parser stops at the next one, and 'clientError' closes the connection after their
 * answers (see answerClientError).
 */
export class RequestLines {
  readonly #lines = new WeakMap<object, Line>()
  readonly #serve: Serve

  constructor(serve: Serve) {
    this.#serve = serve
  }

  /** Serves a request when those before it on its connection are answered. */
  add(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req
    const line = this.#lines.get(socket)
    if (line === undefined) {
      const opened: Line = { latest: res, current: undefined, waiting: [], onIncoming: null }
      this.#lines.set(socket, opened)
      this.#start(opened, req, res)
    } else if (line.latest === undefined) {
      line.latest = res
      this.#start(line, req, res)
    } else {
      line.latest = res
      if (line.waiting.push({ req, res }) === MAX_WAITING) stopParser(line, req)
    }
  }

  /** Returns the response to the latest request of a connection unless it closed. */
  latest(socket: Duplex): ServerResponse | undefined {
    return this.#lines.get(socket)?.latest
  }

  /** Returns the response in progress on a connection. Those to later requests wait for it. */
  current(socket: Duplex): ServerResponse | undefined {
    return this.#lines.get(socket)?.current
  }

  #start(line: Line, req: IncomingMessage, res: ServerResponse): void {
    line.current = res
    res.once('close', () => this.#next(line, req, res))
    this.#serve(req, res)
  }

  #next(line: Line, req: IncomingMessage, closed: ServerResponse): void {
    const { socket } = req
    if (line.latest === closed) line.latest = undefined
    line.current = undefined
    // Its body stalled after the head of its answer was written, and no request can follow it. `boundFraming` closes the others.
    if (isStalled(req) && !hasGivenUp(socket)) socket.destroySoon()
    // No answer can be sent any more: the connection is lost, or closes after the answer that was just sent.
    if (!socket.writable) {
      line.waiting.length = 0
      line.latest = undefined
      return
    }
    const next = line.waiting.shift()
    if (next === undefined) return
    resumeParser(line, next.req)
    this.#start(line, next.req, next.res)
  }
}

function stopParser(line: Line, { socket }: IncomingMessage): void {
  const parser = parserOf(socket)
  if (typeof parser?.onIncoming !== 'function') {
    // A version of Node that does this otherwise. The test shows it.
    socket.destroy()
    return
  }
  line.onIncoming = parser.onIncoming
  parser.onIncoming = stop
}

function resumeParser(line: Line, { socket }: IncomingMessage): void {
  const parser = parserOf(socket)
  if (line.onIncoming === null) return
  if (parser?.onIncoming === stop) parser.onIncoming = line.onIncoming
  line.onIncoming = null
}
