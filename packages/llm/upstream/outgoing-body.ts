import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import type { SplicedObject } from '../json/splice.ts'
import { findReserved, findReservedField, isFreeName } from './reserved-names.ts'
import type { Target } from './target.ts'

/**
 * The last look at a body before it leaves: has anything that a caller wrote for the provider, or that only passes on, set
 * or changed what the gateway authorizes, prices or relies on? Each function gives the path of the first such field, which
 * stands in `UpstreamRequest.reserved`; authorizeRequest gives no credential to a request that has one. What was merged
 * is compared with what we made, and of received bytes only those fields are read that nobody here knows.
 */

/** Names that a format's own server side reads and checks; with fields, only those of the object. */
export type OwnNames = ReadonlyMap<string, OwnNames | null>

/** `nested`: names of objects, with those of their fields. */
export function toOwnNames(
  names: readonly string[],
  nested: Readonly<Record<string, readonly string[]>> = {},
): OwnNames {
  const own = new Map<string, OwnNames | null>(names.map(name => [name, null]))
  for (const [name, fields] of Object.entries(nested)) own.set(name, toOwnNames(fields))
  return own
}

/** What the caller wrote for a provider goes over the body that we made, object by object. */
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

/** Where a caller writes what goes into a target's body. */
export function optionsPath({ provider }: Target): string {
  return `provider_options.${provider.id}`
}

/** Of the options that the caller wrote for a target, as they stand. */
export function findReservedOption(options: JsonObject | undefined, target: Target): string | undefined {
  return options === undefined ? undefined : findReserved(options, optionsPath(target))
}

/** Where the merged body differs from what we made in more than what is the caller's to say. `path`: where it wrote it. */
export function findChanged(made: JsonObject, merged: JsonObject, path?: string): string | undefined {
  if (made === merged) return undefined
  const ours = new Map(Object.entries(made))
  for (const [name, value] of Object.entries(merged)) {
    const own = ours.get(name)
    if (value === own) continue
    const before = toObject(own)
    const after = toObject(value)
    const at = path === undefined ? name : `${path}.${name}`
    const isDeep = before !== undefined && after !== undefined
    const found =
      findReservedField(name, isDeep ? undefined : value, at) ??
      (isDeep && !isFreeName(name) ? findChanged(before, after, at) : undefined)
    if (found !== undefined) return found
  }
  return undefined
}

/** Of fields that go out beside ours, where ours of the same name win. */
export function findReservedRest(rest: JsonObject | undefined): string | undefined {
  return rest === undefined ? undefined : findReservedOwn(rest, NO_NAMES)
}

const NO_NAMES: OwnNames = new Map()

/** Of a body of the provider's own format: what its server side does not read may hold nothing reserved. */
export function findReservedOwn(body: JsonObject, own: OwnNames, path?: string): string | undefined {
  for (const [name, value] of Object.entries(body)) {
    const found = findReservedOwnField(name, value, own, path)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same of received bytes that go out with these changes. */
export function findReservedPassed(
  { bytes, fields }: SplicedObject,
  changes: ReadonlyMap<string, Json | undefined>,
  own: OwnNames,
): string | undefined {
  for (const [name, { valueStart, valueEnd }] of fields) {
    if (own.get(name) === null || changes.has(name)) continue
    const value = JSON.parse(bytes.toString('utf8', valueStart, valueEnd)) as Json
    const found = findReservedOwnField(name, value, own, undefined)
    if (found !== undefined) return found
  }
  return undefined
}

function findReservedOwnField(
  name: string,
  value: Json | undefined,
  own: OwnNames,
  path: string | undefined,
): string | undefined {
  const fields = own.get(name)
  // Null asks for nothing.
  if (fields === null || value === null) return undefined
  const at = path === undefined ? name : `${path}.${name}`
  const object = fields === undefined ? undefined : toObject(value)
  return fields !== undefined && object !== undefined
    ? findReservedOwn(object, fields, at)
    : findReservedField(name, value, at)
}
