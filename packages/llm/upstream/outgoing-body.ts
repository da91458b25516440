import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import type { SourceBody } from '../request/source-body.ts'
import { findReserved, findReservedField, isFreeName, isReservedName, toPlainName } from './reserved-names.ts'
import type { Target } from './target.ts'

/**
 * The last check of an outgoing body: provider options and unknown fields must not set or change a reserved field. Each
 * function returns the path of the first violation, or undefined. The path goes into `UpstreamRequest.reserved`, and
 * authorizeRequest throws where it is set, so that no such request gets a credential. A merged body is compared with the
 * body before the merge.
 */

/**
 * How the server side of a format treats a field. `whole`: it checks the field itself, or any content is allowed. `open`:
 * an object in it may have no reserved keys. With names: only those keys, and no reserved ones besides.
 */
type OwnName = OwnNames | 'whole' | 'open'

export interface OwnNames {
  readonly names: ReadonlyMap<string, OwnName>
  /** The names as toPlainName spells them. */
  readonly plain: ReadonlySet<string>
}

/** `nested`: objects that have an own list of names. */
export function toOwnNames(
  names: readonly string[],
  nested: Readonly<Record<string, readonly string[]>> = {},
): OwnNames {
  const own = new Map<string, OwnName>(
    names.map(name => [name, isReservedName(name) || isFreeName(name) ? 'whole' : 'open']),
  )
  for (const [name, fields] of Object.entries(nested)) own.set(name, toOwnNames(fields))
  return { names: own, plain: new Set([...own.keys()].map(toPlainName)) }
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

/** The path under which a caller writes options for a target. */
export function optionsPath({ provider }: Target): string {
  return `provider_options.${provider.id}`
}

/** Checks options that replace fields as a whole. */
export function findReservedOption(options: JsonObject | undefined, target: Target): string | undefined {
  return options === undefined ? undefined : findReserved(options, optionsPath(target))
}

/** Compares a merged body with the body before the merge. `path`: where the caller wrote the options. */
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
    // Replacing an object removes the reserved fields inside it, such as the output cap.
    const isLost = before !== undefined && after === undefined && !isFreeName(name)
    if (isLost && findReserved(before) !== undefined) return at
  }
  return undefined
}

/** Checks unknown fields that are sent beside ours. */
export function findReservedRest(rest: JsonObject | undefined): string | undefined {
  return rest === undefined ? undefined : findReservedOwn(rest, NO_NAMES)
}

const NO_NAMES = toOwnNames([])

/** Checks a parsed body of the provider's own format. */
export function findReservedOwn(body: JsonObject, own: OwnNames, path?: string): string | undefined {
  for (const [name, value] of Object.entries(body)) {
    const found = findReservedOwnField(name, value, own, path)
    if (found !== undefined) return found
  }
  return undefined
}

/** As findReservedOwn, for a received body that is sent with these changes. */
export function findReservedPassed(
  { value }: Pick<SourceBody, 'value'>,
  changes: ReadonlyMap<string, Json | undefined>,
  own: OwnNames,
): string | undefined {
  for (const [name, received] of Object.entries(value)) {
    const found = changes.has(name) ? undefined : findReservedOwnField(name, received, own, undefined)
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
  const known = own.names.get(name)
  if (known === 'whole' || (known === 'open' && typeof value !== 'object')) return undefined
  const at = path === undefined ? name : `${path}.${name}`
  // Null is harmless, except where a parser that ignores case would take it for the real field.
  if (value === null) return known === undefined && own.plain.has(toPlainName(name)) ? at : undefined
  const object = typeof known === 'object' ? toObject(value) : undefined
  return typeof known === 'object' && object !== undefined
    ? findReservedOwn(object, known, at)
    : findReservedField(name, value, at)
}
