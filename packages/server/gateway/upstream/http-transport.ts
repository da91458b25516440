import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import { type Client, type Dispatcher, util } from 'undici'
import { type OnException, throwLater } from '../../core/on-exception.ts'
import {
  assertAllowedOrigin,
  createGuardedConnector,
  EgressError,
  type EgressPolicy,
} from '../../http/egress.ts'
import { mayPause } from '../../http/patch-undici-parser.ts'
import { toUpstreamHeaders } from '../../http/upstream-headers.ts'
import { type Borrower, Connections } from './connections.ts'
import type { Transport, UpstreamCall, UpstreamHandler } from './transport.ts'

const CONNECT_TIMEOUT_MS = 5_000
const CONNECTIONS_PER_ORIGIN = 512
/** Below what load balancers close at, so that we rarely write to a connection that is closing. */
const KEEP_ALIVE_MS = 30_000
const MAX_ORIGINS = 256

/** Calls providers over HTTP/1.1: undici's dispatcher without fetch and web streams, through the egress guard. */
export function openHttpTransport(policy: EgressPolicy, onException: OnException = throwLater): Transport {
  const origins = new Map<string, Connections>()
  let isClosed = false
  const connect = createGuardedConnector(policy, CONNECT_TIMEOUT_MS)

  function connectionsTo(origin: string): Connections {
    let connections = origins.get(origin)
    if (connections === undefined) {
      // A fallback to another provider must not begin what nobody waits for.
      if (isClosed) throw new Error('the transport is closed')
      assertAllowedOrigin(origin, policy)
      if (origins.size >= MAX_ORIGINS) dropOldest()
      // The gateway's own clock watches headers and bodies: undici's is coarse and knows no per-request limits.
      const options = {
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connect,
      }
      connections = new Connections(origin, CONNECTIONS_PER_ORIGIN, options, onException)
      origins.set(origin, connections)
    }
    return connections
  }

  /** Tenants name their own hosts, so the number of origins has to be bounded; what is in use finishes its calls. */
  function dropOldest(): void {
    const [origin, connections] = origins.entries().next().value as [string, Connections]
    origins.delete(origin)
    connections.retire()
  }

  return {
    call(request, handler) {
      const call = new HttpCall(request, handler)
      try {
        call.begin(connectionsTo(request.origin))
      } catch (error) {
        queueMicrotask(() => call.reject(error as Error))
      }
      return call
    },
    async close() {
      isClosed = true
      await Promise.all([...origins.values()].map(connections => connections.destroy()))
    },
  }
}

/**
 * undici's handler in its older form: the newer one makes an object of all headers, some thirty with a provider's answer, of
 * which a chat that succeeds needs none.
 */
class HttpCall implements Dispatcher.DispatchHandler, UpstreamCall, Borrower {
  readonly #request: UpstreamRequest
  readonly #handler: UpstreamHandler
  #connections: Connections | undefined
  #connection: Client | undefined
  #abort: ((reason: Error) => void) | undefined
  #resume: (() => void) | undefined
  #isPaused = false
  #done = false

  constructor(request: UpstreamRequest, handler: UpstreamHandler) {
    this.#request = request
    this.#handler = handler
  }

  get isSent(): boolean {
    return this.#abort !== undefined
  }

  begin(connections: Connections): void {
    this.#connections = connections
    connections.lend(this)
  }

  take(connection: Client): void {
    this.#connection = connection
    const { path, headers, body } = this.#request
    try {
      connection.dispatch({ method: 'POST', path, headers: toUpstreamHeaders(headers), body }, this)
    } catch (error) {
      // It may be another call's end that hands over the connection: that call goes on.
      this.onError(error as Error)
    }
  }

  reject(error: Error): void {
    this.onError(error)
  }

  abort(): void {
    if (this.#done) return
    this.#done = true
    if (this.#connection === undefined) this.#connections?.withdraw(this)
    // Where the connection is still being opened onConnect will end the call.
    else this.#abort?.(noLongerWanted())
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    // Afterwards the connection may be another call's.
    if (!this.#done) this.#resume?.()
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    if (this.#done) abort(noLongerWanted())
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (this.#done || status < 200) return true
    this.#resume = resume
    try {
      this.#handler.onStart(status, () => util.parseHeaders(headers))
    } catch (error) {
      this.#crash(error)
    }
    return !this.#isPaused
  }

  onData(chunk: Buffer): boolean {
    if (this.#done) return !this.#isPaused || !mayPause()
    try {
      this.#handler.onData(chunk)
    } catch (error) {
      this.#crash(error)
    }
    return !this.#isPaused || !mayPause()
  }

  onComplete(): void {
    const connection = this.#connection as Client
    this.#connection = undefined
    this.#connections?.giveBack(connection)
    if (this.#done) return
    this.#done = true
    try {
      this.#handler.onEnd()
    } catch (error) {
      this.#crash(error)
    }
  }

  onError(error: Error): void {
    if (this.#connection !== undefined) this.#connections?.discard(this.#connection)
    if (this.#done) return
    this.#done = true
    try {
      this.#handler.onFail(toNetworkError(error))
    } catch (another) {
      this.#crash(another)
    }
  }

  /**
   * Ends the call after an exception of its handler, which is not undici's to meet: undici tells a handler that threw at the
   * end of its answer nothing more.
   */
  #crash(error: unknown): void {
    this.abort()
    this.#handler.onCrash(error)
  }
}

function noLongerWanted(): Error {
  return new Error('no longer wanted')
}

function toNetworkError(error: Error & { code?: string }): UpstreamError {
  if (error instanceof EgressError || error.cause instanceof EgressError) {
    return { kind: 'unavailable', detail: `egress refused: ${error.message}` }
  }
  const timedOut = error.code === 'UND_ERR_CONNECT_TIMEOUT'
  return {
    kind: timedOut ? 'timeout' : 'unavailable',
    detail: `${error.code ?? error.name}: ${error.message}`,
  }
}
