import type { JsonObject } from '../../../json/json-value.ts'
import type { LogMetadata } from '../../../request/bounded-text.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FormatId } from '../../../request/format-id.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import type { Findings } from './findings.ts'

/** What a parser gets besides the body. */
export interface ParseContext {
  readonly source: SourceBody
  /** The model where the format names it in the path, else empty. */
  readonly pathModel: string
  /** The request came with a client token: what an end user may not send is looked for. */
  readonly isEndUser: boolean
}

/** A chat body, read once. Later steps look into the body that came only for unread texts, compaction and betas. */
export interface ParsedChat {
  /** Whom the body names for the log alone: no provider of another format is told. */
  readonly loggedUser?: string | undefined
  readonly request: ChatRequest
  readonly metadata: LogMetadata | null
  /** Milliseconds for one attempt; undefined: the gateway's default. */
  readonly timeoutMs: number | undefined
  /** The body's shape, where it is not the one of the format that it came in. */
  readonly shape?: FormatId
  /** How the caller's format spells canonical parameters, where it differs: errors and headers use these names. */
  readonly spellings?: ReadonlyMap<string, string>
  readonly findings: Findings
  /**
   * Clients of the format always name an output cap and ask every model to reason: a model that has less is asked for less,
   * and none of it counts as lost.
   */
  readonly asksByDefault?: true
  /** The effort is in Claude's words: a model of OpenAI's formats is asked for the nearest of its own (fit-effort.ts). */
  readonly hasClaudesEffort?: true
  /** The caller asked to see reasoning, in formats where one has to ask. */
  readonly showsReasoning?: boolean
  /** The caller declared `functions`, and reads the call of one as `function_call`. */
  readonly callsFunctions?: boolean
  /** The body asks for no answer, but that the model be ready, or be freed: see `encodeModelLoad` of ChatServer. */
  readonly asksOnly?: 'load' | 'unload'
  /** What an answer repeats of its request, in the formats that do so. */
  readonly repeated?: RepeatedFields
}

/** A tool of this format that other formats know as a function only: how its calls are shown to the caller. */
export type ToolKind = 'custom' | 'local_shell' | 'tool_search'

/** The tool that a function stands for, as its caller knows it. */
export interface CalledTool {
  readonly kind: ToolKind | 'function'
  readonly name: string
  /** The namespace as the caller wrote it. Absent: the tool stands in none. */
  readonly namespace?: string
}

/** What an answer of OpenAI's Responses repeats of its request. */
export interface RepeatedFields {
  readonly echo: JsonObject
  /** By the names of functions that stand for other tools. */
  readonly calledTools: ReadonlyMap<string, CalledTool>
  /** The caller did not say `store: false`, so it may refer to items of the answer. */
  readonly mayBeReferred?: boolean
}
