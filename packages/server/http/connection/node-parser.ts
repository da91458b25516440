import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** The part of Node's parser (lib/_http_common.js, lib/_http_server.js) that the app uses. A version of Node may lack any of it. */
export interface NodeParser {
  /** The latest request whose head is complete; null: its answer was sent. */
  readonly incoming?: IncomingMessage | null
  /** Asked what to do with a request whose head is complete. */
  onIncoming: ((...args: never[]) => number) | null
  /** The parser's class has the names of its callbacks, which are numbers. */
  readonly constructor: { readonly kOnBody?: number; readonly kOnExecute?: number }
  [callback: number]: ((...args: never[]) => void) | null | undefined
}

/** For llhttp an answer of `onIncoming` that is neither 0, 1 nor 2 is an error: it reads nothing that follows. */
export const STOP = -1

/** Returns the parser of a server's connection while it has one. */
export function parserOf(socket: Duplex): NodeParser | undefined {
  return (socket as { readonly parser?: NodeParser | null }).parser ?? undefined
}
