import type { Readable } from 'node:stream'
import type { ClientBase } from 'pg'

/** What the long results of all connections may take of one tick of the event loop, in milliseconds. The last piece may exceed it. */
const MAX_MS = 1
/** pg parses so much at once, in 0.02 to 0.2 ms. A result that arrives in no more than this never waits. */
const PIECE_BYTES = 4_096

/**
 * Divides the parsing of long results between ticks of the event loop. pg parses all that a socket brings as it comes, up to 2 MiB of each
 * connection in one tick, which takes tens of milliseconds. Here a result that is longer than a piece is parsed as long as its tick
 * has time, and its connection pauses then until it is its turn. The server keeps what it has not sent, and its timeouts go on.
 */
class PacedResults {
  #spentMs = 0
  #isScheduled = false
  readonly #paused: Readable[] = []

  /** Puts itself between a socket and pg's parser of it. */
  pace(socket: Readable): void {
    const [parse, ...others] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    if (parse === undefined || others.length > 0) throw new Error('pg must have one listener to its socket')
    socket.on('data', (bytes: Buffer) => {
      if (bytes.length <= PIECE_BYTES) parse(bytes)
      else this.#parse(socket, bytes, parse)
    })
    socket.off('data', parse)
  }

  #parse(socket: Readable, bytes: Buffer, parse: (bytes: Buffer) => void): void {
    const startedAt = performance.now()
    const until = startedAt + MAX_MS - this.#spentMs
    let [at, now] = [0, startedAt]
    do {
      parse(bytes.subarray(at, at + PIECE_BYTES))
      at += PIECE_BYTES
      now = performance.now()
    } while (at < bytes.length && now < until)
    this.#spentMs += now - startedAt
    if (at < bytes.length) {
      socket.pause()
      socket.unshift(bytes.subarray(at))
      this.#paused.push(socket)
    }
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#beginTick())
  }

  /** One connection goes on in a tick, which reads what it has left before anything else is read. */
  #beginTick(): void {
    this.#isScheduled = false
    this.#spentMs = 0
    this.#paused.shift()?.resume()
    if (this.#paused.length > 0) this.#schedule()
  }
}

const pacedResults = new PacedResults()

/** Parses the long results of a client, which is connected, in short ticks that all clients of the process share. */
export function paceResults(client: ClientBase): void {
  // pg's types do not have the connection.
  const { connection } = client as unknown as { connection: { stream: Readable } }
  pacedResults.pace(connection.stream)
}
