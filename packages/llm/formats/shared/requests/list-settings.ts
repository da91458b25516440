import type { Json, JsonObject } from '../../../json/json-value.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import { toPlainName } from '../../../upstream/reserved-names.ts'
import { joinPath } from '../reading/field-path.ts'

/** Objects and lists in which no name is a setting: content, and the caller's own schemas and notes. */
const CONTENT: ReadonlySet<string> = new Set(
  [
    'messages',
    'input',
    'contents',
    'system',
    'system_instruction',
    'tools',
    'tool_config',
    'functions',
    'documents',
    'metadata',
    'request_metadata',
    'client_metadata',
    'labels',
    'logit_bias',
    'format',
    'response_format',
    'output_format',
    'schema',
    'json_schema',
    'response_schema',
    'response_json_schema',
  ].map(toPlainName),
)

/** The limit on a body's depth. Only JSON inside a text can be deeper. */
const MAX_DEPTH = 64

/** A field of a body that sets how it is answered. */
export interface Setting {
  readonly path: string
  /** JSON in a text is read. undefined: it is too long or too deep to be read. */
  readonly value: Json | undefined
}

/**
 * Returns the fields with one of these plain names among a body's settings, at any depth and in every spelling: providers' options and unknown
 * objects have them too, and forms and proxies send objects as texts of JSON. Null means absent.
 */
export function listSettings(body: JsonObject, plainNames: ReadonlySet<string>): Setting[] {
  const found: Setting[] = []
  const texts = new JsonTexts()
  const visit = (name: string, path: string, given: Json | undefined, depth: number): void => {
    if (given === undefined || given === null || CONTENT.has(toPlainName(name))) return
    const value = typeof given === 'string' && depth < MAX_DEPTH ? texts.read(given) : given
    if (isNamed(name, plainNames)) found.push({ path, value })
    if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return
    if (Array.isArray(value)) {
      for (const [at, entry] of value.entries()) visit('', `${path}[${at}]`, entry, depth + 1)
    } else for (const inner in value) visit(inner, joinPath(path, inner), value[inner], depth + 1)
  }
  for (const name in body) visit(name, joinPath('', name), body[name], 1)
  return found
}

/** Some servers read `extra_body[name]` and `extra_body.name` as nested fields. */
function isNamed(name: string, plainNames: ReadonlySet<string>): boolean {
  if (plainNames.has(toPlainName(name))) return true
  return /[.[\]]/.test(name) && name.split(/[.[\]]+/).some(step => plainNames.has(toPlainName(step)))
}
