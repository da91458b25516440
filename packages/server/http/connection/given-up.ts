import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** Requests of whose body nothing more is read, and their connections. */
const givenUp = new WeakSet<object>()

export function noteGivenUp(req: IncomingMessage): void {
  givenUp.add(req)
  givenUp.add(req.socket)
}

/** True if nothing more of the body is read. The connection closes behind the answer: what follows on it cannot be told from the body. */
export function isGivenUp(req: IncomingMessage): boolean {
  return givenUp.has(req)
}

/** True if a body on the connection was given up. What the parser hands out after that may lack bytes. */
export function hasGivenUp(socket: Duplex): boolean {
  return givenUp.has(socket)
}
