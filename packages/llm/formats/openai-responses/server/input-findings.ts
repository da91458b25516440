import type { Json } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import { allTextsLeft, type TextsLeft } from '../../shared/reading/names-content.ts'
import { invalid } from '../../shared/reading/read-fields.ts'
import type { TargetFindings } from '../../shared/requests/findings.ts'

/** What the parsers of tools and of input find on their way. */
export interface InputFindings extends TargetFindings {
  readonly storedReasoning: string[]
  readonly itemsById: string[]
  /** One number for all items that are not read, so that a body of many has a bound. */
  readonly textsLeft: TextsLeft
  /** A mark of prompt caching. Aggregators take Anthropic's in this format too. */
  hasCacheMark: boolean
  /** True if an id or a reasoning item carries state of the gateway. */
  carriesReasoning: boolean
  /** The path of the first tool search that the provider runs, at no price of its own. */
  searchTool: string | undefined
}

export function noInputFindings(): InputFindings {
  return {
    nativeOnly: [],
    hosted: [],
    connectors: [],
    hostedTools: [],
    storedStatePaths: [],
    storedReasoning: [],
    itemsById: [],
    uncounted: [],
    unmeasured: [],
    textsLeft: allTextsLeft(),
    unknownFields: [],
    hasCacheMark: false,
    carriesReasoning: false,
    searchTool: undefined,
  }
}

/** A list of numbers in the place of tools must not become a list of paths, and no request has this many tools. */
export const MAX_HOSTED = 1024

/** Adds the path of a tool that a provider would run. */
export function addHosted(findings: InputFindings, path: string, isConnector: boolean): void {
  if (isConnector) findings.connectors.push(path)
  if (findings.hosted.length >= MAX_HOSTED) {
    throw invalid(
      path,
      `must not be there: a request has at most ${MAX_HOSTED} tools that the gateway does not know.`,
    )
  }
  findings.hosted.push(path)
}

/** The field that marks the end of input to be cached. */
export const CACHE_MARK = 'cache_control'

/** Returns true if a tool, an item, a part or the body itself has a mark of prompt caching. */
export function isMarked(value: Json | undefined): boolean {
  return isObject(value) && value[CACHE_MARK] !== undefined && value[CACHE_MARK] !== null
}
