import { AttemptScope } from './attempt-scope.ts'
import { isRideauError, RideauError, readApiError } from './errors.ts'
import { isRetryable, toDelayMs } from './retry.ts'
import { createUuid, type Runtime, toAbortReason } from './runtime.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The proof of who calls. */
export interface Credential {
  /** Returns the Bearer token. */
  get(signal: AbortSignal | undefined): Promise<string>
  /** Drops a token that the gateway calls expired or unknown. Returns whether `get` can give another one. */
  drop(token: string): boolean
}

/** How the answer to one call is awaited. */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason, and the gateway cancels the request. */
  readonly signal?: AbortSignal | undefined
  /** For one attempt: until the whole answer is there, or until the first token of a stream. 0 means without limit. */
  readonly timeoutMs?: number | undefined
  /** Further attempts after 408, 429, 5xx and connection failures. */
  readonly maxRetries?: number | undefined
  /** One for all attempts of this call; made at random by default. */
  readonly idempotencyKey?: string | undefined
  /** A UUID that names the first attempt for `cancel` and in the logs; the gateway names each further one. */
  readonly requestId?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Receives every response's status and headers, also of attempts that are retried. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined
}

export interface ResponseInfo {
  readonly status: number
  readonly requestId: string | null
  readonly headers: Headers
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as multipart/form-data. */
  readonly form?: FormData
  /** Whether all attempts carry one `Idempotency-Key`. */
  readonly hasIdempotencyKey?: boolean
  /** Which failures another attempt may follow; by default those that `isRetryable` names. */
  readonly canRetry?: (error: unknown) => boolean
}

/** Reads the answer of one attempt. A failure here counts as one of the connection. */
export type ReadAnswer<T> = (response: Response, scope: AttemptScope) => Promise<T>

export interface TransportOptions {
  readonly fetch: Fetch
  readonly runtime: Runtime
  readonly timeoutMs: number
  readonly maxRetries: number
}

/** Sends calls: attempts, waits and time-outs are here and nowhere else. */
export class Transport {
  readonly runtime: Runtime
  readonly fetch: Fetch
  readonly maxRetries: number
  readonly #timeoutMs: number

  constructor(options: TransportOptions) {
    this.runtime = options.runtime
    this.fetch = options.fetch
    this.#timeoutMs = options.timeoutMs
    this.maxRetries = options.maxRetries
  }

  /** Returns the JSON of an answer; undefined for one without a body. */
  callJson<T>(call: Call, credential: Credential | undefined, options: CallOptions): Promise<T> {
    return this.call(call, credential, options, async (response, scope) => {
      const text = await response.text()
      scope.release()
      return (text === '' ? undefined : JSON.parse(text)) as T
    })
  }

  /** Sends a call and reads its answer with `read`, which must release or close the scope. */
  call<T>(
    call: Call,
    credential: Credential | undefined,
    options: CallOptions,
    read: ReadAnswer<T>,
  ): Promise<T> {
    const headers = this.#toHeaders(call, options)
    const body = call.form ?? (call.json === undefined ? undefined : JSON.stringify(call.json))
    const run = async (token: string | undefined): Promise<T> => {
      const scope = new AttemptScope(options.signal)
      try {
        scope.startTimer(options.timeoutMs ?? this.#timeoutMs, 'The answer')
        const authorized = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }
        const init: RequestInit = { method: call.method, headers: authorized, signal: scope.signal }
        if (body !== undefined) init.body = body
        const response = await this.fetch(call.url, init)
        notify(options, response)
        if (!response.ok) throw await readApiError(response)
        return await read(response, scope)
      } catch (error) {
        const known = scope.toError(error)
        scope.close()
        throw known
      }
    }
    return this.attempt(credential, options, run, call.canRetry)
  }

  /** Runs attempts until one succeeds, cannot be retried, or was the last. An expired or unknown token is replaced once besides. */
  async attempt<T>(
    credential: Credential | undefined,
    { signal, maxRetries = this.maxRetries }: CallOptions,
    run: (token: string | undefined) => Promise<T>,
    canRetry: (error: unknown) => boolean = isRetryable,
  ): Promise<T> {
    let isRenewed = false
    for (let retries = 0; ; ) {
      if (signal !== undefined && isAborted(signal)) throw toAbortReason(signal)
      const token = await credential?.get(signal)
      try {
        return await run(token)
      } catch (error) {
        if (isAborted(signal)) throw error
        // The gateway does not know a token whose signing key was replaced.
        if (!isRenewed && token !== undefined && isRideauError(error, 'key_expired', 'invalid_key')) {
          isRenewed = true
          if (credential?.drop(token) === true) continue
        }
        if (retries >= maxRetries || !canRetry(error)) throw error
        await this.runtime.sleep(toDelayMs(error, retries, this.runtime.random), signal)
        retries++
      }
    }
  }

  #toHeaders(call: Call, options: CallOptions): Record<string, string> {
    const headers: Record<string, string> = { ...options.headers }
    if (call.json !== undefined) headers['content-type'] = 'application/json'
    if (options.requestId !== undefined) headers['x-request-id'] = options.requestId
    if (call.hasIdempotencyKey === true) {
      headers['idempotency-key'] = options.idempotencyKey ?? createUuid(this.runtime.random)
    }
    return headers
  }
}

/** A function, because the compiler takes a signal that did not abort a moment ago for one that never does. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** An exception of the app's own callback is no failure of the connection: it must not be tried again. */
function notify({ onResponse }: CallOptions, { status, headers }: Response): void {
  try {
    onResponse?.({ status, requestId: headers.get('x-request-id'), headers })
  } catch (cause) {
    throw new RideauError('`onResponse` threw an exception.', { cause })
  }
}
