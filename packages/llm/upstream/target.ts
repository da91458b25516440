import type { JsonObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'

/** What to call: a provider's address for one model with one credential. */
export interface Target {
  readonly provider: Provider
  /** The model's name as the provider knows it. */
  readonly model: string
  /** Address up to and with its version segment, no trailing slash. */
  readonly baseUrl: string
  /** The decrypted provider key; empty where none is needed. */
  readonly apiKey: string
  /** The credential's own settings, as the provider's `options` list them. */
  readonly options?: JsonObject
  /** What the key was exchanged for, where the provider takes short-lived tokens (`Provider.auth`). */
  readonly accessToken?: string
  /** The most that the model gives in one answer, for formats that have to name a cap; undefined: unknown. */
  readonly maxOutputTokens?: number | undefined
  /** The header of W3C Trace Context that names the attempt's span; undefined: the request is not traced. */
  readonly traceparent?: string | undefined
}
