import type { Json } from '../../../json/json-value.ts'
import type { TargetFindings } from '../../shared/findings.ts'
import { isObject } from '../../shared/read-fields.ts'

/** What the parsers of tools and of input find on their way. */
export interface Found extends TargetFindings {
  readonly storedReasoning: string[]
  /** A mark of prompt caching. Aggregators take Anthropic's in this format too. */
  hasCacheMark: boolean
  /** An id or a reasoning item carries state of ours. */
  carriesReasoning: boolean
  /** The path of the first tool search that the provider runs, at no price of its own. */
  searchTool: string | undefined
}

export function nothingFound(): Found {
  return {
    nativeOnly: [],
    hosted: [],
    hostedTools: [],
    stateful: [],
    storedReasoning: [],
    uncounted: [],
    unmeasured: [],
    unread: [],
    hasCacheMark: false,
    carriesReasoning: false,
    searchTool: undefined,
  }
}

const CACHE_MARK = 'cache_control'

/** Does a tool, an item, a part or the body itself have a mark of prompt caching? */
export function isMarked(value: Json | undefined): boolean {
  return isObject(value) && value[CACHE_MARK] !== undefined && value[CACHE_MARK] !== null
}
