import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import { JsonTexts } from './json-texts.ts'
import type { FieldRules, Grant } from './outgoing-rules.ts'
import { findReservedField } from './reserved-names.ts'
import type { Target } from './target.ts'

/**
 * The fields of a body that goes out, for the last check: authorizeRequest compares them with the rules of the provider's
 * format right before a request gets its credential. They are the values that the bytes were made from, so nothing is
 * parsed again.
 */
export interface OutgoingBody {
  readonly rules: FieldRules
  readonly value: JsonObject
  /** Fields that were written anew; undefined: the field is left out. Absent: none were. */
  readonly changes?: ReadonlyMap<string, Json | undefined>
  /** The caller's options for this provider, which were merged into the body. Absent: there are none. */
  readonly options?: CallerOptions | undefined
}

export interface CallerOptions {
  readonly fields: JsonObject
  /** Where the caller wrote them. */
  readonly path: string
}

/** Merges a caller's options over a body, object by object. */
export function mergeOptions(body: JsonObject, options: JsonObject | undefined): JsonObject {
  if (options === undefined) return body
  const merged = new Map(Object.entries(body))
  for (const [name, value] of Object.entries(options)) {
    const ours = toObject(merged.get(name))
    const theirs = toObject(value)
    merged.set(name, ours === undefined || theirs === undefined ? value : mergeOptions(ours, theirs))
  }
  return Object.fromEntries(merged)
}

/** The caller's options for a target, as `provider_options` has them. `fields`: as they were merged. */
export function toCallerOptions(
  { provider }: Target,
  fields: JsonObject | undefined,
): CallerOptions | undefined {
  return fields === undefined ? undefined : { fields, path: `provider_options.${provider.id}` }
}

/** Returns the path of the first field of a body that was not granted, as the caller wrote it; undefined: there is none. */
export function findForbidden(body: OutgoingBody, grant: Grant): string | undefined {
  const { options } = body
  if (options === undefined) return findForbiddenField(body, grant)
  const found = findForbiddenOption(options.fields, body.rules) ?? findForbiddenField(body, grant)
  if (found === undefined) return undefined
  const [name = ''] = found.split(/[.[]/, 1)
  return Object.hasOwn(options.fields, name) ? `${options.path}.${found}` : found
}

function findForbiddenField({ rules, value, changes }: OutgoingBody, grant: Grant): string | undefined {
  for (const name in value) {
    if (changes?.has(name) === true) continue
    const found = rules.checkField(name, value[name], grant)
    if (found !== undefined) return found
  }
  if (changes === undefined) return undefined
  for (const [name, changed] of changes) {
    const found = rules.checkField(name, changed, grant)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Options may set no field that the gateway sets itself, not even to the same value, and may replace an object of the format
 * by fields of it only: the object could hold the output cap.
 */
function findForbiddenOption(options: JsonObject, rules: FieldRules): string | undefined {
  const texts = new JsonTexts()
  for (const name in options) {
    const value = options[name]
    if (value === undefined) continue
    const reserved = findReservedField(name, value, texts)
    if (reserved !== undefined) return reserved
    const rule = rules.find(name)
    if (rule === undefined ? rules.isOtherSpelling(name) : isReplaced(rule.fields, value)) return name
  }
  return undefined
}

function isReplaced(fields: FieldRules | undefined, value: Json): boolean {
  return fields !== undefined && toObject(value) === undefined
}
