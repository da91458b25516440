import type { Socket } from 'node:net'

/** undici's HTTP/1.1 parser of a connection (7.30.2, lib/dispatcher/client-h1.js), as far as it is mended here. */
interface Parser {
  paused: boolean
  readonly ptr: number | null
  readonly socket: Socket
  readonly llhttp: { llhttp_resume(parser: number): void }
  execute(bytes: Buffer): void
  finish(): Error | null
}

const mended = new WeakSet<object>()
let isEnding = false

/** False while the rest of an ended connection is read: nothing can be held back any more. */
export function mayPause(): boolean {
  return !isEnding
}

/**
 * undici asserts that a parser is not paused when its connection ends, from within the socket's event: a provider that closes
 * while our caller reads slowly would end the process (undici#5360, mended in undici 8, which throws on import under Node 20).
 * Here such a parser first reads what has come, unpaused, and then ends. Called with each new connection; does its work
 * once. To be dropped with a version of undici that holds the fix: the test of a slow caller tells.
 */
export function patchUndiciParser(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser =
    symbol === undefined ? undefined : (socket as unknown as Record<symbol, Parser | null>)[symbol]
  if (parser === undefined || parser === null) return
  const prototype = Object.getPrototypeOf(parser) as Parser
  if (mended.has(prototype)) return
  mended.add(prototype)
  const { finish } = prototype
  prototype.finish = function (this: Parser): Error | null {
    isEnding = true
    try {
      while (this.paused && this.ptr !== null) {
        this.paused = false
        this.llhttp.llhttp_resume(this.ptr)
        this.execute((this.socket.read() as Buffer | null) ?? Buffer.alloc(0))
      }
    } catch (error) {
      // undici fails the connection's calls with it. Thrown out of the socket's event it would end the process.
      return error as Error
    } finally {
      isEnding = false
    }
    return this.ptr === null ? null : finish.call(this)
  }
}
