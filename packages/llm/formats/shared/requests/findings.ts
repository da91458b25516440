import { allTextsLeft, type TextsLeft } from '../reading/names-content.ts'
import type { HostedToolRequest } from '../tools/hosted-tools.ts'

/** What a body asks that not every target can give, or not every caller may send: values, each by the path of its field. */
export interface Findings extends TargetFindings {
  /**
   * The first field that needs pass-through, since the gateway does not read it: a client token may not send it unless the
   * environment lets it.
   */
  readonly passedOn: string | undefined
  /** The first field that reaches what the provider stores. Looked for only where an end user asks, who may send none. */
  readonly stored: string | undefined
  /** Answers that are asked for and billed. */
  readonly choices: number
  /** Marks of prompt caching stand in it, so that input may be billed as written to the provider's cache. */
  readonly asksForCaching: boolean
  /**
   * The caller's name for such a mark on a message, a part or a tool, of formats that have one there: targets that take marks
   * get it. Absent: there is none.
   */
  readonly cacheMark?: 'cache_control' | 'cachePoint' | undefined
  /**
   * A header or a setting asks for a beta that raises the context window of a model that offers it. The pipeline finds it in requests of
   * every format. Absent: none does.
   */
  raisesWindow?: true
}

/** What not every target can give. */
export interface TargetFindings {
  /** Only a target of this format can honour it: refused by name, or dropped, elsewhere. */
  readonly nativeOnly: string[]
  /** A provider would run it, and its price cannot be known, or it reaches another address or what the provider stores. */
  readonly hosted: string[]
  /** Those of `hosted` that reach another address, or what the account stores: they are refused, never left out. */
  readonly connectors: string[]
  /** Tools that a provider runs: sent where their price is known, and left out elsewhere. */
  readonly hostedTools: HostedToolRequest[]
  /** Builds on state that a provider stores: the paths of the fields that name it. */
  readonly storedStatePaths: string[]
  /**
   * References to reasoning that a provider stores. It is state of that provider; other models could not read it anyhow, so a
   * target of another format is asked without it. Absent: none.
   */
  readonly storedReasoning?: string[]
  /** Items of an id alone, which a provider of this format takes for references to what it keeps. Absent: none. */
  readonly itemsById?: string[]
  /**
   * Tools that a provider runs and whose results it counts as input, and its own compaction (find-compaction.ts), which the pipeline finds
   * in bodies of every format: how much cannot be known in advance.
   */
  readonly uncounted: string[]
  /** Blocks and items that are not read, and name content that is not in the body: how much input that is cannot be known. */
  readonly unmeasured: string[]
  /** Fields that no target gets: the gateway does not know them, or no provider does. */
  readonly unknownFields: string[]
}

/** Findings while a parser fills them. */
export type MutableFindings = { -readonly [K in keyof Findings]: Findings[K] } & {
  /** One number for all that is not read, so that a body of many parts has a bound. */
  readonly textsLeft: TextsLeft
}

/**
 * Returns findings of a body that asks for nothing special. Parsers assign what they find: a spread that overrides its
 * own fields costs 10 µs a request, because V8 redefines each of them in its runtime.
 */
export function noFindings(): MutableFindings {
  return {
    nativeOnly: [],
    hosted: [],
    connectors: [],
    hostedTools: [],
    storedStatePaths: [],
    uncounted: [],
    unmeasured: [],
    textsLeft: allTextsLeft(),
    unknownFields: [],
    passedOn: undefined,
    stored: undefined,
    choices: 1,
    asksForCaching: false,
    cacheMark: undefined,
  }
}

/**
 * Returns the findings of a body that names nothing stored. An end user needs pass-through for an unknown field, although no
 * target gets it.
 */
export function toPassThroughFindings(
  unknownFields: readonly string[],
  isEndUser: boolean,
): Pick<Findings, 'stored' | 'passedOn'> {
  return { stored: undefined, passedOn: isEndUser ? unknownFields[0] : undefined }
}
