/**
 * Paths of fields, such as `tools[0].googleSearch`. A name that would read as more than one step stands in quotes:
 * `generationConfig["a.b"]`, so that what is dropped by its path is what was meant.
 */

const PLAIN = /^[^.[\]"\\]+$/

/** `path`: of the object that has the field; empty: the body. */
export function joinPath(path: string, name: string): string {
  if (!PLAIN.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

const STEP = /\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]|([^.[\]]+)/g

export function toSteps(path: string): string[] {
  return [...path.matchAll(STEP)].map(([, quoted, index, plain]) =>
    quoted === undefined ? (index ?? plain ?? '') : (JSON.parse(quoted) as string),
  )
}

/** As its caller knows it: every name as it was written. */
export function showPath(path: string): string {
  if (!path.includes('["')) return path
  const shown = path.replace(
    /\[("(?:[^"\\]|\\.)*")\]/g,
    (_, quoted: string) => `.${JSON.parse(quoted) as string}`,
  )
  return shown.replace(/^\./, '')
}
