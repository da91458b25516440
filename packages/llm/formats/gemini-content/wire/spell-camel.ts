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

/** A body with every name in the first of its two spellings, or the path of a name that stands in both. */
export type SpellingResult = { readonly body: JsonObject } | { readonly doubled: string }

/**
 * Returns the body in one form: the API takes `system_instruction` as well as `systemInstruction`, and a single element in
 * place of a list of it.
 */
export function spellCamel(body: JsonObject): SpellingResult {
  const duplicate: DuplicateName = { doubled: undefined }
  const spelled = spellObject(body, duplicate)
  return duplicate.doubled === undefined ? { body: spelled } : { doubled: duplicate.doubled }
}

/** No field has a longer name, and unknown ones keep theirs. */
const MAX_NAME = 64

export function toCamel(name: string): string {
  return name.includes('_') && name.length <= MAX_NAME
    ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : name
}

/** The path of the first name in both spellings: each level puts its own step before it. */
interface DuplicateName {
  doubled: string | undefined
}

function spellObject(object: JsonObject, duplicate: DuplicateName): JsonObject {
  const spelled = new Map<string, Json>()
  for (const given in object) {
    const value = object[given]
    const name = toCamel(given)
    if (spelled.has(name)) {
      duplicate.doubled = given
      return object
    }
    if (value === undefined) continue
    const whole = FREE.has(name) ? value : spell(value, duplicate)
    if (duplicate.doubled !== undefined) {
      duplicate.doubled = joinSteps(given, duplicate.doubled)
      return object
    }
    spelled.set(name, LISTS.has(name) && toObject(whole) !== undefined ? [whole] : whole)
  }
  return Object.fromEntries(spelled)
}

function spell(value: Json, duplicate: DuplicateName): Json {
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value)) return spellObject(value, duplicate)
  const list: Json[] = []
  for (let at = 0; at < value.length; at++) {
    list.push(spell(value[at] as Json, duplicate))
    if (duplicate.doubled !== undefined) {
      duplicate.doubled = joinSteps(`[${at}]`, duplicate.doubled)
      break
    }
  }
  return list
}

function joinSteps(step: string, rest: string): string {
  return rest.startsWith('[') ? step + rest : `${step}.${rest}`
}

/** The second spelling of a name. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
