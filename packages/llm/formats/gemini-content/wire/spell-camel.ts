import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'

/** What a caller fills with names of its own. */
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

/** Lists, of which the API takes the only element by itself too. */
const LISTS: ReadonlySet<string> = new Set(['contents', 'parts', 'tools', 'functionDeclarations'])

/** A body with every name in the first of the API's two spellings, or the path of a name that stands in both. */
export type Spelled = { readonly body: JsonObject } | { readonly doubled: string }

/** The API takes `system_instruction` as well as `systemInstruction`, and one part as a list of it: here there is one form. */
export function spellCamel(body: JsonObject): Spelled {
  const doubled: string[] = []
  const spelled = spellObject(body, '', doubled)
  return doubled[0] === undefined ? { body: spelled } : { doubled: doubled[0] }
}

export function toCamel(name: string): string {
  return name.includes('_') ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name
}

function spellObject(object: JsonObject, path: string, doubled: string[]): JsonObject {
  // Without a prototype: `__proto__` is a name like any other.
  const spelled: JsonObject = Object.create(null)
  for (const [given, value] of Object.entries(object)) {
    const name = toCamel(given)
    const at = path === '' ? given : `${path}.${given}`
    if (name in spelled) doubled.push(at)
    if (value === undefined) continue
    const whole = FREE.has(name) ? value : spell(value, at, doubled)
    spelled[name] = LISTS.has(name) && toObject(whole) !== undefined ? [whole] : whole
  }
  return spelled
}

function spell(value: Json, path: string, doubled: string[]): Json {
  if (Array.isArray(value)) return value.map((each, at) => spell(each, `${path}[${at}]`, doubled))
  const object = toObject(value)
  return object === undefined ? value : spellObject(object, path, doubled)
}
