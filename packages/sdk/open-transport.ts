import { RideauError } from './errors.ts'
import { createSystemRuntime, type Runtime } from './runtime.ts'
import { type Fetch, Transport } from './transport.ts'

/** What every client of this library can be told. */
export interface ConnectionOptions {
  /** Makes the requests. React Native's own cannot stream; that of `expo/fetch` can. */
  readonly fetch?: Fetch | undefined
  /** For one attempt; 10 minutes by default. 0 means without limit. */
  readonly timeoutMs?: number | undefined
  /** Further attempts after 408, 429, 5xx and connection failures; 2 by default. */
  readonly maxRetries?: number | undefined
}

const DEFAULT_TIMEOUT_MS = 600_000
const DEFAULT_MAX_RETRIES = 2

export function openTransport(options: ConnectionOptions, runtime: Runtime | undefined): Transport {
  const { fetch, timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_MAX_RETRIES } = options
  return new Transport({
    // A browser's fetch refuses to be called as the method of another object.
    fetch: fetch === undefined ? (url, init) => globalThis.fetch(url, init) : (url, init) => fetch(url, init),
    runtime: runtime ?? createSystemRuntime(),
    timeoutMs,
    maxRetries,
  })
}

/** Returns an address without its trailing slash. Throws a RideauError where it is no absolute http(s) address. */
export function parseAddress(name: string, value: string): string {
  if (!/^https?:\/\/[^/?#\s]+/i.test(value) || /[?#\s]/.test(value)) {
    throw new RideauError(`\`${name}\` must be an absolute http(s) address; got ${JSON.stringify(value)}.`)
  }
  return new URL(value).href.replace(/\/+$/, '')
}

/** Returns a path prefix as `/name`, or an empty text. */
export function parsePrefix(value: string): string {
  const path = value.replace(/^\/+|\/+$/g, '')
  return path === '' ? '' : `/${path}`
}
