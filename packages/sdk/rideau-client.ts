import { GatewayCalls } from './gateway-calls.ts'
import { type ConnectionOptions, openTransport, parseAddress, parsePrefix } from './open-transport.ts'
import type { Runtime } from './runtime.ts'
import { TokenCache, type TokenSource } from './token-cache.ts'

export interface RideauClientOptions extends ConnectionOptions {
  /** The gateway's address, such as `https://gateway.example.com`. */
  readonly gatewayUrl: string
  /** `fromBackend(...)`, `fromIdentityToken(...)` or `fromDevice(...)`. */
  readonly tokenSource: TokenSource
  /** Where the gateway serves OpenAI's format; `/openai` by default. */
  readonly compatPrefix?: string | undefined
  /** For getting one client token, with all its attempts; 2 minutes by default. 0 means without limit. */
  readonly tokenTimeoutMs?: number | undefined
}

const DEFAULT_TOKEN_TIMEOUT_MS = 120_000

/** Calls the gateway as one end user, from a browser or an app. Holds no secret but a short-lived client token. */
export class RideauClient extends GatewayCalls {
  readonly #tokens: TokenCache

  /** `runtime` is for tests. */
  constructor(options: RideauClientOptions, runtime?: Runtime) {
    const gatewayUrl = parseAddress('gatewayUrl', options.gatewayUrl)
    const transport = openTransport(options, runtime)
    const tokens = new TokenCache({
      source: options.tokenSource,
      gatewayUrl,
      transport,
      timeoutMs: options.tokenTimeoutMs ?? DEFAULT_TOKEN_TIMEOUT_MS,
    })
    super(transport, tokens, { gatewayUrl, compatPrefix: parsePrefix(options.compatPrefix ?? '/openai') })
    this.#tokens = tokens
  }

  /** Whom the gateway takes this client for, once a first call was made. */
  get endUserId(): string | undefined {
    return this.#tokens.endUserId
  }

  /** Forgets the token. Call it when the user signs out or another one signs in. */
  signOut(): void {
    this.#tokens.clear()
  }
}
