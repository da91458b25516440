/** A value that no column of its kind takes. The codes are PostgreSQL's. */
export class UnstorableValue extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Returns the text with U+FFFD for NUL, which PostgreSQL cannot store. UTF-8 does the same to lone surrogates. */
export function toStorableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/**
 * Returns the JSON with U+FFFD for NUL and lone surrogates: a body may contain them, PostgreSQL's text cannot. In JSON
 * text both are written as escapes; whole pairs are not. An escaped backslash does not begin such an escape.
 */
export function toStorableJson(json: string): string {
  if (!json.includes('\\u')) return json
  return json.replace(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, escape =>
    escape === '\\\\' ? escape : '\ufffd',
  )
}
