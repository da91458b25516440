/** Objects and arrays inside one another, the outermost included. */
export const MAX_JSON_DEPTH = 64

/** No meaningful number is longer; JavaScript keeps 17 digits of one. */
export const MAX_NUMBER_BYTES = 1_024

/** The most names of one object. Listing as many takes some 10 ms, and is no work that can be divided. */
export const MAX_NAMES = 65_536

/** How much one text may hold. Every value costs memory and time that its bytes do not show: `{}` takes 56 bytes. */
export interface JsonBounds {
  /** The most values of every kind. Numbers are the cheapest. */
  readonly maxValues: number
  /** Names, strings, objects and lists: what JSON.parse allocates. */
  readonly maxParts: number
  /** The most fields of the outermost object. */
  readonly maxFields: number
  /** The most bytes of one name, as it is written. */
  readonly maxNameBytes: number
}

/** The bounds of texts that are bounded by their size alone. */
export const UNBOUNDED: JsonBounds = {
  maxValues: Number.MAX_SAFE_INTEGER,
  maxParts: Number.MAX_SAFE_INTEGER,
  maxFields: Number.MAX_SAFE_INTEGER,
  maxNameBytes: Number.MAX_SAFE_INTEGER,
}

/** Why a text is refused. */
export type JsonProblem =
  | 'not_utf8'
  | 'malformed'
  | 'duplicate_key'
  | 'too_deep'
  | 'too_many_values'
  | 'too_many_fields'
  | 'long_name'
  | 'long_number'
  | 'not_unicode'
