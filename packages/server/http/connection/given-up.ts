import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** Requests that were given up, and their connections. */
const givenUp = new WeakSet<object>()

export function noteGivenUp(req: IncomingMessage): void {
  givenUp.add(req)
  givenUp.add(req.socket)
}

/**
 * True if nothing more is read of the request's connection, because its body has too many very short chunks, or it or what came behind
 * it has too much framing. Its body may be whole in the last case. The connection closes behind the answer.
 */
export function isGivenUp(req: IncomingMessage): boolean {
  return givenUp.has(req)
}

/** True if a request on the connection was given up. What the parser hands out after that may lack bytes. */
export function hasGivenUp(socket: Duplex): boolean {
  return givenUp.has(socket)
}

/** True if the request was given up, or its body is not read on, however long its reader waits. */
export function isStalled(req: IncomingMessage): boolean {
  // ReceivedRequest has it.
  return (req as { readonly isStalled?: boolean }).isStalled === true
}
