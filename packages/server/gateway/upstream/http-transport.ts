import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import { type Client, type Dispatcher, util } from 'undici'
import { type OnException, throwLater } from '../../core/on-exception.ts'
import {
  assertAllowedOrigin,
  createGuardedConnector,
  EgressError,
  type EgressPolicy,
  type GuardedConnector,
} from '../../http/egress.ts'
import type { LookupOwner } from '../../http/lookup-slots.ts'
import { mayPause } from '../../http/patch-undici-parser.ts'
import { toUpstreamHeaders } from '../../http/upstream-headers.ts'
import { type Borrower, Connections } from './connections.ts'
import type { Transport, UpstreamCall, UpstreamHandler } from './transport.ts'

const CONNECT_TIMEOUT_MS = 5_000
const CONNECTIONS_PER_ORIGIN = 512
/** Shorter than the idle timeout of load balancers, so that requests rarely meet a connection that is closing. */
const KEEP_ALIVE_MS = 30_000
const MAX_ORIGINS = 256

/** Calls providers over HTTP/1.1 under the egress policy. Uses undici's dispatcher, without fetch and web streams. */
export function openHttpTransport(policy: EgressPolicy, onException: OnException = throwLater): Transport {
  const origins = new Map<string, Connections>()
  let isClosed = false
  const connectGuarded = createGuardedConnector(policy, CONNECT_TIMEOUT_MS)
  const opening: Opening = { owner: undefined }
  const connect: GuardedConnector = (options, callback) => connectGuarded(options, callback, opening.owner)

  function connectionsTo(origin: string): Connections {
    let connections = origins.get(origin)
    if (connections === undefined) {
      // A fallback must not start a call that no request waits for.
      if (isClosed) throw new Error('the transport is closed')
      assertAllowedOrigin(origin, policy)
      if (origins.size >= MAX_ORIGINS) dropOldest()
      // The gateway's ticker enforces timeouts. undici's are coarse and the same for all requests.
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

  /**
   * Tenants choose their own hosts, so the number of origins is bounded. Running calls of a dropped origin are
   * completed.
   */
  function dropOldest(): void {
    const [origin, connections] = origins.entries().next().value as [string, Connections]
    origins.delete(origin)
    connections.retire()
  }

  return {
    call(request, handler, owner) {
      const call = new HttpCall(request, handler, owner, opening)
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

/** For whom a connection is being opened. undici opens one within `dispatch`, so one place for all calls is enough. */
interface Opening {
  owner: LookupOwner | undefined
}

/**
 * Uses undici's older handler interface. The newer one builds an object of all headers, about thirty in a provider's
 * answer, which a successful chat does not need.
 */
class HttpCall implements Dispatcher.DispatchHandler, UpstreamCall, Borrower {
  readonly owner: LookupOwner | undefined
  readonly #request: UpstreamRequest
  readonly #handler: UpstreamHandler
  readonly #opening: Opening
  #connections: Connections | undefined
  #connection: Client | undefined
  #abort: ((reason: Error) => void) | undefined
  #resume: (() => void) | undefined
  #isPaused = false
  #done = false

  constructor(
    request: UpstreamRequest,
    handler: UpstreamHandler,
    owner: LookupOwner | undefined,
    opening: Opening,
  ) {
    this.#request = request
    this.#handler = handler
    this.owner = owner
    this.#opening = opening
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
    this.#opening.owner = this.owner
    try {
      connection.dispatch({ method: 'POST', path, headers: toUpstreamHeaders(headers), body }, this)
    } catch (error) {
      // The connection may be given by the end of another call, which must not fail.
      this.onError(error as Error)
    } finally {
      this.#opening.owner = undefined
    }
  }

  reject(error: Error): void {
    this.onError(error)
  }

  abort(): void {
    if (this.#done) return
    this.#done = true
    if (this.#connection === undefined) this.#connections?.withdraw(this)
    // While the connection is being opened, onConnect ends the call.
    else this.#abort?.(abortedError())
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    // After its end the connection may serve another call.
    if (!this.#done) this.#resume?.()
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    if (this.#done) abort(abortedError())
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
   * Ends the call after an exception of its handler. The exception must not reach undici, which would not notify a
   * handler again that threw at the end of its answer.
   */
  #crash(error: unknown): void {
    this.abort()
    this.#handler.onCrash(error)
  }
}

function abortedError(): Error {
  return new Error('the call was aborted')
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
