/** A route as it can be suggested. One `*` in its path stands for a model or an id. */
interface KnownRoute {
  readonly method: string
  readonly path: string
}

/** Longer paths are no misspelt routes. */
const MAX_PATH = 512

/** What stands before the part of a path that names what it does: prefixes of mounts, and versions. */
const VERSION = /^\/(?:v\d+(?:alpha|beta)?|api)(?=\/)/

/** Returns the route that a method and path probably mean, as `METHOD /path`. */
export type SuggestRoute = (method: string, path: string) => string | undefined

interface Candidate {
  readonly method: string
  /** The path as it is shown, with the name of what `*` stands for in its place. */
  readonly path: string
  readonly head: string
}

/**
 * Returns a function that finds the route that was meant by a path without one: the path lacks the prefix or the version
 * of its format, has one of them twice, or was called with another method. It returns `METHOD /path`, which repeats
 * nothing of the caller's path; undefined: no route does anything alike. `prefixes`: of all mounts.
 */
export function openRouteSuggestions(
  routes: readonly KnownRoute[],
  prefixes: Iterable<string>,
): SuggestRoute {
  const known = [...prefixes].filter(prefix => prefix !== '').sort((a, b) => b.length - a.length)
  const whole = new Map<string, Candidate[]>()
  const open: { readonly before: string; readonly after: string; readonly candidate: Candidate }[] = []
  for (const { method, path } of routes) {
    const tail = toTail(path, known)
    const head = path.slice(0, path.length - tail.length)
    const candidate = { method, path: path.replace('*', nameOf(path)), head }
    const [before, after] = tail.split('*')
    if (after === undefined) whole.set(tail, [...(whole.get(tail) ?? []), candidate])
    else if (after !== '') open.push({ before: before as string, after, candidate })
  }
  return (method, path) => {
    if (path.length > MAX_PATH) return undefined
    const tail = toTail(path, known)
    const head = path.slice(0, path.length - tail.length)
    const named = open.filter(
      ({ before, after }) =>
        tail.length > before.length + after.length && tail.startsWith(before) && tail.endsWith(after),
    )
    const found = whole.get(tail) ?? named.map(({ candidate }) => candidate)
    let best: Candidate | undefined
    for (const entry of found) {
      if (best === undefined || likeness(entry, method, head) > likeness(best, method, head)) best = entry
    }
    return best === undefined ? undefined : `${best.method} ${best.path}`
  }
}

/** Returns what the `*` of a path stands for, as the documentation names it. */
function nameOf(path: string): string {
  return path.includes('/requests/*') ? '{request_id}' : '{model}'
}

/** Returns the path without prefixes of mounts and versions at its beginning, however often they stand there. */
function toTail(path: string, prefixes: readonly string[]): string {
  let tail = path
  for (;;) {
    const prefix = prefixes.find(prefix => tail.startsWith(`${prefix}/`)) ?? VERSION.exec(tail)?.[0]
    if (prefix === undefined) return tail
    tail = tail.slice(prefix.length)
  }
}

/**
 * The method counts most, then how much of the beginning of the called path the route has at its beginning or its end, then
 * whether it is a native one. Of several the first in the table is best.
 */
function likeness({ method, head }: Candidate, calledMethod: string, calledHead: string): number {
  let shared = 0
  while (shared < head.length && head[shared] === calledHead[shared]) shared++
  if (head.endsWith(calledHead)) shared = Math.max(shared, calledHead.length)
  const isNative = VERSION.test(`${head}/`)
  return (method === calledMethod ? 10_000 : 0) + shared * 2 + (isNative ? 1 : 0)
}
