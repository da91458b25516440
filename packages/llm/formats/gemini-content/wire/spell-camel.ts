import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'

/** Fields whose names inside are the caller's own. */
const FREE: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
  'labels',
  'partMetadata',
])

/** Lists in whose place the API takes a single element. */
const LISTS: ReadonlySet<string> = new Set(['contents', 'parts', 'tools', 'functionDeclarations'])

/**
 * A body with every name in the first of its two spellings, or the path of a name that stands in both (`doubled`), or of the first
 * after MAX_NAMES others (`crowded`).
 */
export type SpellingResult =
  | { readonly body: JsonObject }
  | { readonly doubled: string }
  | { readonly crowded: string }

/**
 * Returns the body in one form: the API takes `system_instruction` as well as `systemInstruction`, and a single element in
 * place of a list of it.
 */
export function spellCamel(body: JsonObject): SpellingResult {
  const spelling = new Spelling()
  const spelled = spelling.spellObject(body)
  const { problem, path } = spelling
  if (problem === undefined) return { body: spelled }
  return problem === 'doubled' ? { doubled: path } : { crowded: path }
}

/** No field has a longer name, and unknown ones keep theirs. */
const MAX_NAME = 64
/** The most different names of a body beside the caller's own. The API has some 300. */
export const MAX_NAMES = 1_024

export function toCamel(name: string): string {
  return name.includes('_') && name.length <= MAX_NAME
    ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : name
}

/** The spelling of one body. */
class Spelling {
  /** Why the body cannot be spelled; undefined: it can so far. */
  problem: 'doubled' | 'crowded' | undefined
  /** The path of the problem: each level puts its own step before it. */
  path = ''
  /** The names so far, as they are spelled. */
  readonly #names = new Map<string, string>()

  spellObject(object: JsonObject): JsonObject {
    const spelled = new Map<string, Json>()
    for (const given in object) {
      const value = object[given]
      const name = this.#spellName(given)
      if (name === undefined || spelled.has(name)) {
        this.problem = name === undefined ? 'crowded' : 'doubled'
        this.path = given
        return object
      }
      if (value === undefined) continue
      const whole = FREE.has(name) ? value : this.#spell(value)
      if (this.problem !== undefined) {
        this.path = joinSteps(given, this.path)
        return object
      }
      spelled.set(name, LISTS.has(name) && toObject(whole) !== undefined ? [whole] : whole)
    }
    return Object.fromEntries(spelled)
  }

  /** Returns undefined for a name after MAX_NAMES others. */
  #spellName(given: string): string | undefined {
    const known = this.#names.get(given)
    if (known !== undefined) return known
    if (this.#names.size === MAX_NAMES) return undefined
    const name = toCamel(given)
    this.#names.set(given, name)
    return name
  }

  #spell(value: Json): Json {
    if (typeof value !== 'object' || value === null) return value
    if (!Array.isArray(value)) return this.spellObject(value)
    const list: Json[] = []
    for (let at = 0; at < value.length; at++) {
      list.push(this.#spell(value[at] as Json))
      if (this.problem !== undefined) {
        this.path = joinSteps(`[${at}]`, this.path)
        break
      }
    }
    return list
  }
}

function joinSteps(step: string, rest: string): string {
  return rest.startsWith('[') ? step + rest : `${step}.${rest}`
}

/** The second spelling of a name. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
