import type { JsonObject } from '../../json/json-value.ts'
import type { LogMetadata } from '../../request/bounded-text.ts'
import type { ChatRequest } from '../../request/chat-request.ts'
import type { FormatId } from '../../request/format-id.ts'
import type { Findings } from './findings.ts'

/** What a chat body asks besides what goes to the provider. */
export interface ChatCall {
  readonly request: ChatRequest
  readonly metadata: LogMetadata | null
  /** Milliseconds for one try; undefined: the gateway's default. */
  readonly timeoutMs: number | undefined
  /** As a secret key's body names it, not checked yet (name-end-user.ts); a client token's end user is its own. */
  readonly endUser: string | undefined
  /** The body's shape, where it is not the one of the surface that it came to. */
  readonly shape?: FormatId
  /** How the caller's format spells canonical parameters, where it does otherwise: what is refused is named so. */
  readonly spelled?: ReadonlyMap<string, string>
  /** What not every target can give, where the surface's format has such things. */
  readonly findings?: Findings
  /** The caller asked to see thoughts, in formats where one has to. */
  readonly showsThoughts?: boolean
  /** What an answer repeats of its request, in the formats that do so. */
  readonly repeated?: RepeatedFields
}

/** A tool of this format that others know as a function only: how its calls are told to the caller. */
export type ToolKind = 'custom' | 'local_shell'

/** What an answer of OpenAI's Responses repeats of its request. */
export interface RepeatedFields {
  readonly echo: JsonObject
  readonly toolKinds: ReadonlyMap<string, ToolKind>
}
