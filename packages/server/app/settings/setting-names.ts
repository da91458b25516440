const PREFIX = 'RIDEAU_'
/** Settings of the tests, and what examples call keys and addresses. */
const FOREIGN = /^RIDEAU_(TEST_\w+|(SECRET_|PUBLISHABLE_|MANAGEMENT_)?KEY|URL)$/
/** The most characters that are added, removed or replaced in a misspelled setting: one in four of a short name. */
const MAX_DISTANCE = 3
/** Longer names are no misspelled settings. Comparing takes the product of both lengths. */
const MAX_NAME = 100
const MAX_LISTED = 20

type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns true for a variable that Kubernetes sets in each container for a Service of the same namespace: one that is called
 * `rideau-gateway` gives `RIDEAU_GATEWAY_PORT=tcp://10.0.0.11:8787` (kubernetes.io, "Accessing the Service", environment variables).
 */
export function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_\w+$/.test(name)) return true
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value)
}

/** Returns a line for each variable that looks like a setting and is none: what it sets is missing, and nobody would notice. */
export function listUnknownSettings(env: Env, known: readonly string[]): string[] {
  const names = Object.entries(env)
    .filter(([name, value]) => name.startsWith(PREFIX) && value !== undefined && !isServiceLink(name, value))
    .map(([name]) => name)
    .filter(name => !known.includes(name) && !FOREIGN.test(name) && name.length <= MAX_NAME)
  return names.slice(0, MAX_LISTED).map(name => toLine(name, known))
}

function toLine(name: string, known: readonly string[]): string {
  const line = `${name} is not a setting and is ignored`
  const bare = name.slice(PREFIX.length)
  if (known.includes(bare)) return `${line}; did you mean ${bare}?`
  const distances = known.map(other => ({ other, distance: countEdits(name, other) }))
  const [nearest] = distances.sort((a, b) => a.distance - b.distance)
  if (nearest === undefined || nearest.distance > maxEdits(nearest.other)) return line
  return `${line}; did you mean ${nearest.other}?`
}

function maxEdits(setting: string): number {
  return Math.min(MAX_DISTANCE, Math.floor((setting.length - PREFIX.length) / 4))
}

/** The characters to add, remove or replace to make `b` of `a` (Levenshtein's distance). */
function countEdits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
