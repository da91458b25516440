/**
 * Paths of fields, such as `tools[0].googleSearch`. A name with a dot, a bracket, a quote or a backslash is quoted:
 * `generationConfig["a.b"]`, so that every path names exactly one field.
 */

const PLAIN = /^[^.[\]"\\]+$/

/** `path`: of the object that has the field; empty: the body. */
export function joinPath(path: string, name: string): string {
  if (!PLAIN.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

const BRACKET = /[[\]]/
const STEP = /\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]|([^.[\]]+)/g

/** The names that joinPath was called with, outermost first. */
export function toSteps(path: string): string[] {
  // A tenth of the time that the pattern takes: a body may have 60,000 fields that are left out.
  if (!BRACKET.test(path)) return path.split('.')
  return [...path.matchAll(STEP)].map(([, quoted, index, plain]) =>
    quoted === undefined ? (index ?? plain ?? '') : (unquote(quoted) ?? quoted),
  )
}

/** The path with every name as the caller wrote it, for messages and headers. */
export function showPath(path: string): string {
  if (!path.includes('["')) return path
  const shown = path.replace(/\[("(?:[^"\\]|\\.)*")\]/g, (step, quoted: string) => {
    const name = unquote(quoted)
    return name === undefined ? step : `.${name}`
  })
  return shown.replace(/^\./, '')
}

function unquote(text: string): string | undefined {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}
