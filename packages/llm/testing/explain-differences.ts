import type { Json } from '../json/json-value.ts'

/** Where two JSON values differ, by path (`/messages/0/content`). */
export interface Difference {
  readonly path: string
  /** undefined: absent. */
  readonly ours: Json | undefined
  readonly recorded: Json | undefined
}

/** Why a request of the gateway may differ from the recorded one. `*` in a path stands for one step, a last `**` for all below. */
export interface Justification {
  readonly path: string
  /** Only for recordings whose name begins with or has this in it. Absent: for all. */
  readonly of?: string
  readonly why: string
}

export function findDifferences(ours: Json | undefined, recorded: Json | undefined, path = ''): Difference[] {
  if (isContainer(ours) && isContainer(recorded) && Array.isArray(ours) === Array.isArray(recorded)) {
    const [one, other] = [new Map(Object.entries(ours)), new Map(Object.entries(recorded))]
    return [...new Set([...one.keys(), ...other.keys()])].flatMap(key =>
      findDifferences(one.get(key), other.get(key), `${path}/${key}`),
    )
  }
  return Object.is(ours, recorded) ? [] : [{ path, ours, recorded }]
}

/** Holds differences against the list of those that have a reason, and the list against what really differs. */
export function openJustifications(list: readonly Justification[]): {
  /** What no entry explains, one line each. */
  readonly unexplained: (name: string, differences: readonly Difference[]) => string[]
  /** Entries that explained nothing: once every recording was held, there must be none. */
  readonly unused: () => readonly Justification[]
} {
  const used = new Set<Justification>()
  return {
    unexplained: (name, differences) =>
      differences
        .filter(({ path }) => {
          const fitting = list.find(entry => fits(entry, name, path))
          if (fitting !== undefined) used.add(fitting)
          return fitting === undefined
        })
        .map(({ path, ours, recorded }) => `${path}: ${show(ours)} instead of ${show(recorded)}`),
    unused: () => list.filter(entry => !used.has(entry)),
  }
}

function fits({ path, of }: Justification, name: string, differing: string): boolean {
  if (of !== undefined && !name.includes(of)) return false
  const [pattern, steps] = [path.split('/'), differing.split('/')]
  if (pattern.at(-1) === '**') pattern.pop()
  else if (pattern.length !== steps.length) return false
  return pattern.every((part, at) => part === steps[at] || (part === '*' && steps[at] !== undefined))
}

function isContainer(value: Json | undefined): value is Json[] | { [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null
}

function show(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
