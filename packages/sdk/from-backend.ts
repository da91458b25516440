import type { ClientToken } from './client-token.ts'
import type { TokenSource } from './token-cache.ts'

/** Returns what the app's backend minted with `RideauServer.mintClientToken`: the whole answer, or the token alone. */
export type FetchClientToken = (context: { readonly signal: AbortSignal }) => Promise<ClientToken | string>

export interface BackendOptions {
  /** Answers POST with what `mintClientToken` returned. May be relative in a browser, whose cookies are sent along. */
  readonly url: string
  /** Asked before each call, for example for the app's own session. */
  readonly getHeaders?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/**
 * Client tokens from the app's own backend, which holds the secret key and knows who is signed in. A function of the app's own
 * is called once for each token; an address is called with this library's retries.
 */
export function fromBackend(backend: FetchClientToken | BackendOptions): TokenSource {
  if (typeof backend === 'function') return { mint: ({ signal }) => backend({ signal }) }
  const { url, getHeaders } = backend
  return {
    async mint({ transport, signal }) {
      const headers = await getHeaders?.()
      return transport.callJson({ method: 'POST', url }, undefined, { signal, headers })
    },
  }
}
