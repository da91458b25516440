import type { UpstreamError } from '@rideau/llm/spec'
import { type Dispatcher, Pool } from 'undici'
import { checkOrigin, createGuardedConnector, EgressError, type EgressPolicy } from '../../http/egress.ts'
import type { Transport, UpstreamCall, UpstreamHandler } from './transport.ts'

const CONNECT_TIMEOUT_MS = 5_000
const CONNECTIONS_PER_ORIGIN = 512
/** Below what load balancers close at, so that we rarely write to a connection that is closing. */
const KEEP_ALIVE_MS = 30_000
const MAX_ORIGINS = 256

/** Calls providers over HTTP/1.1: undici's dispatcher without fetch and web streams, through the egress guard. */
export function openHttpTransport(policy: EgressPolicy): Transport {
  const pools = new Map<string, Pool>()
  const connect = createGuardedConnector(policy, CONNECT_TIMEOUT_MS)

  function poolOf(origin: string): Pool {
    let pool = pools.get(origin)
    if (pool === undefined) {
      checkOrigin(origin, policy)
      if (pools.size >= MAX_ORIGINS) dropOldest()
      // The gateway's own clock watches headers and bodies: undici's is coarse and knows no per-request limits.
      pool = new Pool(origin, {
        connections: CONNECTIONS_PER_ORIGIN,
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connect,
      })
      pools.set(origin, pool)
    }
    return pool
  }

  /** Tenants name their own hosts, so the number of origins has to be bounded; a pool in use finishes its calls. */
  function dropOldest(): void {
    const [origin, pool] = pools.entries().next().value as [string, Pool]
    pools.delete(origin)
    void pool.close()
  }

  return {
    call(request, handler) {
      const call = new HttpCall(handler)
      try {
        poolOf(request.origin).dispatch(
          { method: 'POST', path: request.path, headers: request.headers, body: request.body },
          call,
        )
      } catch (error) {
        queueMicrotask(() => call.onResponseError(undefined, error as Error))
      }
      return call
    },
    async close() {
      await Promise.all([...pools.values()].map(pool => pool.destroy()))
    },
  }
}

class HttpCall implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #handler: UpstreamHandler
  #controller: Dispatcher.DispatchController | undefined
  #done = false

  constructor(handler: UpstreamHandler) {
    this.#handler = handler
  }

  get isSent(): boolean {
    return this.#controller !== undefined
  }

  abort(): void {
    if (this.#done) return
    this.#done = true
    // Without a controller the call still waits in the pool's queue: onRequestStart will end it.
    this.#controller?.abort(new Error('no longer wanted'))
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#done) controller.abort(new Error('no longer wanted'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#done || status < 200) return
    this.#handler.onStart(status, headers)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#done) this.#handler.onData(chunk)
  }

  onResponseEnd(): void {
    if (this.#done) return
    this.#done = true
    this.#handler.onEnd()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#done) return
    this.#done = true
    this.#handler.onFail(toNetworkError(error))
  }
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
