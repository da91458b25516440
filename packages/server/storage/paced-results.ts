import type { Readable } from 'node:stream'
import type { ClientBase } from 'pg'

/** What the long results of all connections may take of one tick of the event loop, in milliseconds. The last piece may exceed it. */
const MAX_MS = 1
/** How long they rest then, as other long work does: twice that (http/fairness/loop-turns.ts). */
const REST_MS = 2
/** pg parses so much at once, in 0.02 to 0.2 ms. Chunks of up to this size are not measured at the beginning of a result. */
const PIECE_BYTES = 4_096
/** A result is long beyond this. What comes before it never waits, so that short statements have no part in the turns of long ones. */
const SHORT_BYTES = 16_384

interface PacedSocket {
  readonly stream: Readable
  /** pg's listener. */
  readonly parse: (bytes: Buffer) => void
  /** What was parsed since the connection had no statement. */
  parsedBytes: number
}

/**
 * Divides the parsing of long results between ticks of the event loop. pg parses all that a socket brings as it comes, up to 2 MiB of each
 * connection in one tick, which takes tens of milliseconds. Here a long result is parsed as long as its tick has time, and its connection
 * pauses then until it is its turn. The server keeps what it has not sent, and its timeouts go on.
 */
class PacedResults {
  #spentMs = 0
  #isScheduled = false
  readonly #paused: Readable[] = []

  /** Parses what a socket of pg brought. */
  parse(socket: PacedSocket, bytes: Buffer): void {
    const { stream, parse } = socket
    const startedAt = performance.now()
    const until = startedAt + MAX_MS - this.#spentMs
    let [at, now] = [0, startedAt]
    while (at < bytes.length && (now < until || socket.parsedBytes < SHORT_BYTES)) {
      parse(bytes.subarray(at, at + PIECE_BYTES))
      at += PIECE_BYTES
      socket.parsedBytes += PIECE_BYTES
      now = performance.now()
    }
    this.#spentMs += now - startedAt
    if (at < bytes.length) {
      stream.pause()
      stream.unshift(bytes.subarray(at))
      this.#paused.push(stream)
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#endTick())
  }

  #endTick(): void {
    if (this.#paused.length > 0) {
      setTimeout(() => this.#beginTick(), REST_MS)
      return
    }
    this.#spentMs = 0
    this.#isScheduled = false
  }

  /** One connection goes on in a tick, with what is left of its bytes. */
  #beginTick(): void {
    this.#spentMs = 0
    this.#paused.shift()?.resume()
    setImmediate(() => this.#endTick())
  }
}

const pacedResults = new PacedResults()

/** Parses the long results of a connected client in short ticks, which all clients of the process share. */
export function paceResults(client: Pick<ClientBase, 'on'>): void {
  // pg's types do not have the connection.
  const { stream } = (client as unknown as { connection: { stream: Readable } }).connection
  const [parse, ...others] = stream.listeners('data') as ((bytes: Buffer) => void)[]
  if (parse === undefined || others.length > 0) throw new Error('pg must have one listener to its socket')
  const socket: PacedSocket = { stream, parse, parsedBytes: 0 }
  client.on('drain', () => {
    socket.parsedBytes = 0
  })
  stream.on('data', (bytes: Buffer) => {
    if (bytes.length <= PIECE_BYTES && socket.parsedBytes < SHORT_BYTES) {
      socket.parsedBytes += bytes.length
      parse(bytes)
    } else pacedResults.parse(socket, bytes)
  })
  stream.off('data', parse)
}
