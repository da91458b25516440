import type { JsonObject } from '../../json/json-value.ts'
import type { FormatId } from '../../request/format-id.ts'
import type { ClientFormat } from './client-format.ts'
import type { ModelListEntry } from './listed-model.ts'
import type { Mount } from './reading/mount.ts'
import type { ChatServer, CountFormat } from './server-format.ts'

/** A wire format, both sides of it. formats/index.ts lists all of them. */
export interface Format {
  readonly id: FormatId
  /** The client side, which calls providers. Absent: only callers use the format. */
  readonly client?: ClientFormat
  /** The server side, which serves callers. */
  readonly served?: ServedFormat
}

/** Every path begins behind the mount's prefix; `*` is the model, where the path names it. */
export interface ServedFormat {
  readonly mount: Mount
  readonly chat: readonly ChatRoute[]
  readonly counts?: readonly CountRoute[]
  readonly models?: readonly ModelRoute[]
}

export interface ChatRoute {
  readonly path: string
  readonly server: ChatServer
  /** Answers in place of `server` where the query asks for it. */
  readonly whenQuery?: { readonly name: string; readonly value: string; readonly server: ChatServer }
}

export interface CountRoute {
  readonly path: string
  readonly count: CountFormat
}

/** A route that describes models, or what serves them. */
export type ModelRoute =
  | { readonly kind: 'list'; readonly path: string; encode(models: readonly ModelListEntry[]): JsonObject }
  | { readonly kind: 'one'; readonly path: string; encode(model: ModelListEntry): JsonObject }
  /** The body of a POST names the model. */
  | {
      readonly kind: 'named in body'
      readonly path: string
      readonly bodyLimitBytes: number
      /** Throws RequestError. */
      parse(body: JsonObject): string
      encode(model: ModelListEntry): JsonObject
    }
  | { readonly kind: 'fixed'; readonly path: string; readonly endpoint: string; readonly body: JsonObject }
