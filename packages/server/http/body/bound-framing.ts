import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hasGivenUp } from '../connection/given-up.ts'
import { type NodeParser, parserOf, STOP } from '../connection/node-parser.ts'
import { takeTurn } from '../fairness/sliced-work.ts'
import { FRAMING } from '../head/client-error.ts'
import { MAX_REST_COST, MAX_REST_MS } from './drop-rest.ts'
import { ReceivedRequest } from './received-request.ts'

/** What a connection may bring that is neither a whole head nor paid for as a body: two reads of the socket. */
const MAX_FRAMING_BYTES = 128 * 1024
/** What a body may bring with its framing, as a multiple of what reading it costs. */
const PER_COST = 2
/** When the answer is sent at the earliest, and how long it may take to reach the client, in milliseconds. A client that reconnects at once is slowed down by it. */
const DELAY_MS = 500

/** RequestLines has them. */
interface Answers {
  /** Returns the response in progress on a connection. */
  current(socket: Socket): ServerResponse | undefined
  /** Returns the response to the latest request of a connection unless it closed. */
  latest(socket: Socket): ServerResponse | undefined
}

/** Called with the length of each read of the socket, or with why it could not be parsed. */
type NoteRead = (read: number | Error) => void

/**
 * Ends connections that bring framing without end. Node counts neither spaces in heads and trailers, nor line ends before a request,
 * nor zeros before the size of a chunk, and of extensions only those of one chunk. It reads them as fast as they come, up to 2 MiB of
 * a connection in a tick, and tells no one: no limit and no turn counts them. Connections whose request was given up for its very
 * short chunks end too, and those with bytes that are no HTTP behind a whole request whose answer goes on.
 *
 * The parser gets nothing after that. Half a second later, and when whole requests before have their answers, it is an error of the
 * parser ('clientError').
 */
export function boundFraming(server: Server, answers: Answers): void {
  server.on('connection', (socket: Socket) => {
    const parser = parserOf(socket)
    if (parser !== undefined) watch(socket, parser, answers)
  })
}

function watch(socket: Socket, parser: NodeParser, answers: Answers): void {
  const { onIncoming } = parser
  const callback = parser.constructor.kOnExecute ?? Number.NaN
  const noteRead = parser[callback] as NoteRead
  // A version of Node that does this otherwise. The test shows it.
  if (typeof onIncoming !== 'function' || typeof noteRead !== 'function') return
  let hasHead = false
  let error: Error | undefined
  /** Bytes of reads that neither completed a head nor belong to a body. */
  let between = 0
  parser.onIncoming = (...args) => {
    if (hasGivenUp(socket)) return STOP
    hasHead = true
    return onIncoming(...args)
  }
  parser[callback] = (read: number | Error) => {
    // A version of Node that leaves the parser on the socket.
    if (error !== undefined) return void socket.destroy()
    if (hasGivenUp(socket)) return stop(tooMuchFraming())
    const isOver = read instanceof Error ? isAnswering() : isAbove(read)
    if (!isOver) return noteRead(read)
    stop(read instanceof Error ? read : tooMuchFraming())
  }

  function stop(reason: Error): void {
    error = reason
    const isFraming = (reason as NodeJS.ErrnoException).code === FRAMING
    // An error may come from a head that Node made a request of, and nobody answers.
    const request = isFraming ? parser.incoming : answers.latest(socket)?.req
    if (request instanceof ReceivedRequest) request.giveUp(isFraming ? 'framing' : 'syntax')
    dropReads(socket)
    // The rest of a body whose request was answered before its end.
    if (answers.current(socket) === undefined && request?.complete === false) linger(socket)
    else setTimeout(end, DELAY_MS).unref()
  }

  /** True while a whole request is answered. */
  function isAnswering(): boolean {
    return answers.current(socket)?.req.complete === true
  }

  function end(): void {
    if (socket.destroyed || error === undefined) return
    if (isAnswering()) {
      // Shows whether the client is gone, whose answers then end.
      readOnce(socket)
      setTimeout(end, DELAY_MS).unref()
      return
    }
    noteRead(error)
    // Not at once: a connection that closes under a client that is sending takes the answer along.
    setTimeout(() => socket.destroy(), DELAY_MS).unref()
  }

  function isAbove(read: number): boolean {
    const { incoming } = parser
    const request = incoming instanceof ReceivedRequest ? incoming : undefined
    if (request?.complete === false) {
      request.readBytes += read
      return request.readBytes > MAX_FRAMING_BYTES + PER_COST * request.readCost
    }
    between = hasHead ? 0 : between + read
    hasHead = false
    return between > MAX_FRAMING_BYTES
  }
}

function tooMuchFraming(): Error {
  return Object.assign(new Error('too much framing'), { code: FRAMING })
}

/**
 * Takes the parser off the socket, and reads nothing. It is not enough to pause the socket: Node resumes it at the end of a body, and
 * the parser would go on.
 */
function dropReads(socket: Socket): void {
  socket.pause()
  socket.removeAllListeners('data')
  // Node's server takes its parser off a socket that has such a listener.
  socket.on('data', () => socket.pause())
}

/**
 * Closes a connection that has lost its parser behind an answer, and drops what still comes, in turns. Many clients send all of a
 * body before they read, and a connection that is closed under them takes the answer along.
 */
function linger(socket: Socket): void {
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_REST_COST) socket.destroy()
    else void takeTurn().then(() => readOnce(socket))
  })
  setTimeout(() => socket.destroy(), MAX_REST_MS).unref()
  socket.end()
  readOnce(socket)
}

/** Reads once from a socket that has lost its parser, and drops it. */
function readOnce(socket: Socket): void {
  // Ends the read that the parser took over. The socket would wait for it.
  socket.push('')
  socket.resume()
}
