import type { Json, JsonObject } from '../../../json/json-value.ts'

/** The fields of each format that hold messages. */
const MESSAGES = ['messages', 'input', 'contents', 'system', 'systemInstruction', 'system_instruction']
const OPTIONS = ['provider_options', 'extra_body']

const STORE = /^store$/i
const FILE_ID = /^file[_-]?ids?$/i

/** Arguments and results of tools, documents and parsed answers are data for the model: their keys mean nothing to a provider. */
const DATA: ReadonlySet<string> = new Set([
  ...['input', 'arguments', 'json', 'args', 'response', 'parsed_arguments', 'parsed'],
  // Of Cohere's documents, and of the citations that repeat results of tools.
  ...['data', 'tool_output'],
])

/** The path of the first field that reaches what a provider stores: a stored file, or an answer to store; undefined: none. */
export function findStored(body: JsonObject): string | undefined {
  for (const name of MESSAGES) {
    const found = findNamed(FILE_ID, body[name])
    if (found !== undefined) return name + found
  }
  for (const name of OPTIONS) {
    const found = findNamed(STORE, body[name])
    if (found !== undefined) return name + found
  }
  return undefined
}

/**
 * Finds a field of such a name at any depth, whose value asks for something. The path from `value` is made on the way back,
 * since a body has a million values.
 */
function findNamed(pattern: RegExp, value: Json | undefined): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findNamed(pattern, value[index])
      if (found !== undefined) return `[${index}]${found}`
    }
    return undefined
  }
  for (const name in value) {
    const inner = value[name]
    if (pattern.test(name) && inner !== null && inner !== false) return `.${name}`
    const found = isData(name, value) ? undefined : findNamed(pattern, inner)
    if (found !== undefined) return `.${name}${found}`
  }
  return undefined
}

function isData(name: string, { type }: JsonObject): boolean {
  // Cohere's citations repeat documents under this name. Converse's blocks of this name have no type, and may be stored files.
  return DATA.has(name) || (name === 'document' && type === 'document')
}
