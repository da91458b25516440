import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import { excerptName } from '../../../request/bounded-excerpt.ts'
import { RequestError } from './request-error.ts'

/**
 * Readers from untrusted JSON to typed values. Each throws `invalid_request` with the path of the invalid field; optional
 * ones take `null` for absent. They are written by hand because they run on every request: the fast validators generate
 * code at run time, which the project does not allow.
 */

export function invalid(param: string, message: string): RequestError {
  return new RequestError('invalid_request', `${param}: ${message}`, { param })
}

export function objectAt(value: Json | undefined, path: string): JsonObject {
  if (!isObject(value)) throw invalid(path, 'must be an object.')
  return value
}

export function optionalObject(source: JsonObject, name: string, path = name): JsonObject | undefined {
  const value = source[name]
  return value === undefined || value === null ? undefined : objectAt(value, path)
}

export function textAt(value: Json | undefined, path: string): string {
  if (typeof value !== 'string') throw invalid(path, 'must be a string.')
  return value
}

export function optionalText(source: JsonObject, name: string, path = name): string | undefined {
  const value = source[name]
  return value === undefined || value === null ? undefined : textAt(value, path)
}

export function flagAt(value: Json | undefined, path: string): boolean {
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false.')
  return value
}

export function optionalFlag(source: JsonObject, name: string, path = name): boolean | undefined {
  const value = source[name]
  return value === undefined || value === null ? undefined : flagAt(value, path)
}

export interface NumberRange {
  readonly min?: number
  readonly max?: number
  readonly integer?: boolean
}

/** A number, not null. */
export function numberAt(value: Json | undefined, path: string, range: NumberRange = {}): number {
  const { min = -Infinity, max = Infinity, integer = false } = range
  if (typeof value !== 'number' || (integer && !Number.isInteger(value))) {
    throw invalid(path, integer ? 'must be an integer.' : 'must be a number.')
  }
  if (value < min || value > max) throw invalid(path, `must be ${describeRange(min, max)}.`)
  return value
}

export function optionalNumber(
  source: JsonObject,
  name: string,
  range: NumberRange = {},
  path = name,
): number | undefined {
  const value = source[name]
  return value === undefined || value === null ? undefined : numberAt(value, path, range)
}

export function choiceAt<const T extends string>(
  value: Json | undefined,
  path: string,
  choices: readonly T[],
): T {
  const found = choices.find(choice => choice === value)
  if (found === undefined) throw invalid(path, `must be one of ${choices.join(', ')}.`)
  return found
}

export function optionalChoice<const T extends string>(
  source: JsonObject,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = source[name]
  return value === undefined || value === null ? undefined : choiceAt(value, name, choices)
}

export function listAt(value: Json | undefined, path: string): Json[] {
  if (!Array.isArray(value)) throw invalid(path, 'must be a list.')
  return value
}

/** A list of strings. */
export function textsAt(value: Json | undefined, path: string): string[] {
  return listAt(value, path).map((item, at) => textAt(item, `${path}[${at}]`))
}

/** Refuses a field that is not on the list, by its path. */
export function assertKnownFields(source: JsonObject, known: ReadonlySet<string>, path = ''): void {
  for (const name in source) {
    if (!known.has(name)) {
      const shown = excerptName(name)
      const at = path === '' ? shown : `${path}.${shown}`
      throw new RequestError('invalid_request', `${at}: is not a field of this request.`, { param: at })
    }
  }
}

/** The most fields of an object of settings. A body itself may have as many. */
const MAX_FIELDS = 1_024

/** Throws for an object of more than MAX_FIELDS, so that their names need not be looked up. */
export function assertFewFields(fields: JsonObject, path: string): void {
  let count = 0
  for (const _ in fields) {
    if (++count > MAX_FIELDS)
      throw invalid(path, `must have at most ${MAX_FIELDS.toLocaleString('en-US')} fields.`)
  }
}

function describeRange(min: number, max: number): string {
  if (max === Infinity) return `at least ${min}`
  return min === -Infinity ? `at most ${max}` : `between ${min} and ${max}`
}

/** Sets a field only where there is a value: absent and undefined are kept apart by the compiler. */
export function set<T, K extends keyof T>(target: T, name: K, value: T[K] | undefined): void {
  if (value !== undefined) target[name] = value
}
