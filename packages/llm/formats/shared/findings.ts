/** What a body asks that not every target can give; by the path of each field. */
export interface Findings {
  /** Only a target of this format can honour it: refused by name, or dropped, elsewhere. */
  readonly nativeOnly: string[]
  /** A provider would run it, at a price of its own. */
  readonly hosted: string[]
  /** Builds on state that a provider keeps. */
  readonly stateful: string[]
  /** Adds input that cannot be counted in advance. */
  readonly uncounted?: string[]
  /** Nobody here knows what it asks: no target gets it. */
  readonly unread?: string[]
}

export function noFindings(): Findings {
  return { nativeOnly: [], hosted: [], stateful: [] }
}

export function everyFinding(): Required<Findings> {
  return { nativeOnly: [], hosted: [], stateful: [], uncounted: [], unread: [] }
}
