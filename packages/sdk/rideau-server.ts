import { type ClientToken, type Scope, toLifetimeMs } from './client-token.ts'
import { fixedCredential } from './fixed-credential.ts'
import { GatewayCalls } from './gateway-calls.ts'
import { type ConnectionOptions, openTransport, parseAddress, parsePrefix } from './open-transport.ts'
import type { Runtime } from './runtime.ts'
import type { CallOptions, Credential, Transport } from './transport.ts'

export interface RideauServerOptions extends ConnectionOptions {
  /** The gateway's address, such as `https://gateway.example.com`. */
  readonly gatewayUrl: string
  /** `rd_sk_...`: for servers only. */
  readonly secretKey: string
  /** Where the gateway serves OpenAI's format; `/openai` by default. */
  readonly compatPrefix?: string | undefined
}

export interface MintParams {
  readonly endUser: {
    /** The app's own id of its user, from 1 to 255 characters. */
    readonly id: string
    /** Used where the end user's record names no plan. */
    readonly plan?: string
    /** Kept with the end user; up to 4,096 bytes. */
    readonly attributes?: Readonly<Record<string, unknown>>
  }
  readonly scopes: readonly Scope[]
  /** From 1 to 3,600; 900 by default. */
  readonly ttlSeconds?: number
}

/** What `mintClientToken` returns, to be sent to the app as it is. */
export interface MintedClientToken extends ClientToken {
  readonly expires_at: string
  readonly end_user_id: string
  readonly expires_in: number
}

/** Calls the gateway with a secret key, and mints client tokens for the app's users. */
export class RideauServer extends GatewayCalls {
  readonly #transport: Transport
  readonly #credential: Credential
  readonly #url: string

  /** `runtime` is for tests. */
  constructor(options: RideauServerOptions, runtime?: Runtime) {
    const gatewayUrl = parseAddress('gatewayUrl', options.gatewayUrl)
    const transport = openTransport(options, runtime)
    const credential = fixedCredential(options.secretKey)
    super(transport, credential, {
      gatewayUrl,
      compatPrefix: parsePrefix(options.compatPrefix ?? '/openai'),
    })
    this.#transport = transport
    this.#credential = credential
    this.#url = `${gatewayUrl}/v1/client-tokens`
  }

  /**
   * Mints a client token for a user whom the backend has authenticated. Send the answer to the app and let no cache store it: set
   * `Cache-Control: no-store`. `expires_in` is added, because the app's clock may be wrong.
   */
  async mintClientToken(params: MintParams, options: CallOptions = {}): Promise<MintedClientToken> {
    const { endUser, scopes, ttlSeconds } = params
    const json = {
      end_user: endUser,
      scopes,
      ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
    }
    const call = { method: 'POST', url: this.#url, json } as const
    const minted = await this.#transport.callJson<MintedClientToken>(call, this.#credential, options)
    return { ...minted, expires_in: Math.floor(toLifetimeMs(minted) / 1_000) }
  }
}
