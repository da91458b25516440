import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** Why nothing more is read of a connection: too many very short chunks or too much framing, or bytes that are no HTTP. */
export type GivenUpFor = 'framing' | 'syntax'

/** Requests that were given up, and their connections. */
const givenUp = new WeakMap<object, GivenUpFor>()

export function noteGivenUp(req: IncomingMessage, reason: GivenUpFor): void {
  givenUp.set(req, reason)
  givenUp.set(req.socket, reason)
}

/**
 * True if nothing more is read of the request's connection, because its body has too many very short chunks, or it or what came behind
 * it has too much framing or is no HTTP. Its body may be whole in the last cases. The connection closes behind the answer.
 */
export function isGivenUp(req: IncomingMessage): boolean {
  return givenUp.has(req)
}

/** Returns why a request was given up; undefined: it was not. */
export function whyGivenUp(req: IncomingMessage): GivenUpFor | undefined {
  return givenUp.get(req)
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
