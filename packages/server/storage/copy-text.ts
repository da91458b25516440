/** A value that no column of its kind takes. The codes are PostgreSQL's. */
export class UnstorableValue extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const NULL = '\\N'
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/**
 * Makes the fields of a record. `isPlain`: its JSON has no escape, so no text of it needs one either. Most records are
 * plain, and a look at the whole JSON costs less than one at each text.
 */
export class FieldEncoder {
  readonly #isPlain: boolean

  constructor(isPlain: boolean) {
    this.#isPlain = isPlain
  }

  /** Returns the field of a text column. */
  text(value: unknown): string {
    if (typeof value === 'string') return this.#isPlain ? value : escapeText(value)
    if (value === null || value === undefined) return NULL
    return escapeText(typeof value === 'object' ? JSON.stringify(value) : String(value))
  }

  /** Returns the field of a column whose values are texts of one form, such as UUIDs. Throws an UnstorableValue for another type. */
  form(value: unknown): string {
    if (typeof value === 'string') return this.#isPlain ? value : escapeText(value)
    return toNull(value, 'text')
  }

  json(value: unknown): string {
    return value === null || value === undefined ? NULL : this.writtenJson(JSON.stringify(value))
  }

  writtenJson(json: string): string {
    return this.#isPlain ? json : escapeText(toStorableJson(json))
  }
}

/** Escapes a text. NUL, which PostgreSQL cannot store, becomes U+FFFD; UTF-8 does the same to lone surrogates. */
function escapeText(text: string): string {
  return text.replace(/[\\\n\r\t\0]/g, char => ESCAPES.get(char) ?? '\ufffd')
}

export function numberField(value: unknown): string {
  if (typeof value !== 'number') return toNull(value, 'number')
  // As in JSON.
  return Number.isFinite(value) ? String(value) : NULL
}

export function booleanField(value: unknown): string {
  if (value === true) return 't'
  return value === false ? 'f' : toNull(value, 'boolean')
}

function toNull(value: unknown, kind: string): string {
  if (value === null || value === undefined) return NULL
  throw new UnstorableValue('22P02', `a ${typeof value} is no ${kind}`)
}

/**
 * The JSON with NUL and lone surrogates replaced by U+FFFD: a body may contain them, PostgreSQL's text cannot. In JSON
 * text both are written as escapes; whole pairs are not. An escaped backslash does not begin such an escape.
 */
export function toStorableJson(json: string): string {
  if (!json.includes('\\u')) return json
  return json.replace(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, escape =>
    escape === '\\\\' ? escape : '\ufffd',
  )
}
