/** A field of a record before and after; undefined where it is absent. */
export interface Difference {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Fields that change with every write. */
const ALWAYS = new Set(['updated_at'])

/** Returns the fields that differ, by their path, in the order of the later record. */
export function toDiff(before: unknown, after: unknown): readonly Difference[] {
  const [old, fresh] = [flatten(before), flatten(after)]
  const paths = [...new Set([...fresh.keys(), ...old.keys()])]
  return paths
    .filter(path => !ALWAYS.has(path) && old.get(path) !== fresh.get(path))
    .map(path => ({ path, before: old.get(path), after: fresh.get(path) }))
}

/** Returns the values of a record as JSON by their path, such as `restrictions.allowed_models`. A list is one value. */
function flatten(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    if (path !== '') into.set(path, JSON.stringify(value) ?? '')
    return into
  }
  for (const [name, item] of Object.entries(value)) {
    flatten(item, path === '' ? name : `${path}.${name}`, into)
  }
  return into
}
