import type { Json, JsonObject } from '../../json/json-value.ts'
import { toObject, toObjects } from '../../json/json-value.ts'
import { toTable } from '../../json/to-table.ts'

/** A schema may be recursive, or ask for a billion items: beyond so many values the rest is left out. */
const MAX_VALUES = 2000
const MAX_DEPTH = 24
const MAX_LENGTH = 1000

const FORMATS: Readonly<Record<string, string>> = toTable({
  'date-time': '2025-01-01T00:00:00Z',
  date: '2025-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
})

/**
 * The smallest value that a JSON schema accepts, always the same one: required properties only (all, where the schema
 * names no required ones), first alternatives, lowest numbers. `pattern` and `not` are not looked at.
 */
export function makeInstance(schema: Json | undefined): Json {
  return new Maker(schema).make(schema, 0, 0)
}

class Maker {
  private readonly root: Json | undefined
  private values = 0

  constructor(root: Json | undefined) {
    this.root = root
  }

  /** `nth` makes the values of an array differ, for `uniqueItems`. */
  make(given: Json | undefined, depth: number, nth: number): Json {
    const schema = this.resolve(given, depth)
    if (schema === undefined || depth > MAX_DEPTH || this.values > MAX_VALUES) return null
    if (schema.const !== undefined) return schema.const
    if (Array.isArray(schema.enum) && schema.enum.length > 0) {
      return schema.enum[nth % schema.enum.length] as Json
    }
    switch (typeOf(schema)) {
      case 'object':
        return this.makeObject(schema, depth)
      case 'array':
        return this.makeArray(schema, depth)
      case 'string':
        return makeString(schema, nth)
      case 'integer':
        return makeNumber(schema, nth, 1)
      case 'number':
        return makeNumber(schema, nth, 0)
      case 'boolean':
        return nth % 2 === 1
      default:
        return null
    }
  }

  private makeObject(schema: JsonObject, depth: number): JsonObject {
    const properties = toObject(schema.properties) ?? {}
    const names = Array.isArray(schema.required)
      ? schema.required.filter(name => typeof name === 'string')
      : Object.keys(properties)
    return Object.fromEntries(
      names.map(name => [
        name,
        this.make(Object.hasOwn(properties, name) ? properties[name] : { type: 'string' }, depth + 1, 0),
      ]),
    )
  }

  private makeArray(schema: JsonObject, depth: number): Json[] {
    const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
    const least = typeof schema.minItems === 'number' ? Math.min(schema.minItems, MAX_LENGTH) : 0
    const items: Json[] = []
    for (let at = 0; at < Math.max(least, prefix.length) && this.values <= MAX_VALUES; at++) {
      items.push(this.make(prefix[at] ?? schema.items ?? { type: 'string' }, depth + 1, at))
    }
    return items
  }

  /** Follows references, and takes alternatives and conjunctions together into one schema. */
  private resolve(given: Json | undefined, depth: number): JsonObject | undefined {
    // An alternative may refer to what it is an alternative of.
    if (depth > MAX_DEPTH || this.values++ > MAX_VALUES) return undefined
    let schema = toObject(given)
    for (let hops = 0; schema !== undefined && hops < MAX_DEPTH; hops++) {
      if (typeof schema.$ref === 'string') {
        schema = toObject(this.findRef(schema.$ref))
        continue
      }
      const parts = [firstOf(schema.anyOf), firstOf(schema.oneOf), ...toObjects(schema.allOf)]
      const found = parts.filter(part => part !== undefined)
      if (found.length === 0) return schema
      const { anyOf, oneOf, allOf, ...rest } = schema
      schema = found.map(part => this.resolve(part, depth + hops + 1) ?? {}).reduce(merge, rest)
    }
    return schema
  }

  private findRef(ref: string): Json | undefined {
    if (!ref.startsWith('#')) return undefined
    let at: Json | undefined = this.root
    for (const step of ref.slice(1).split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const object = Array.isArray(at) ? { ...at } : toObject(at)
      at = object !== undefined && Object.hasOwn(object, name) ? (object as JsonObject)[name] : undefined
    }
    return at
  }
}

function typeOf(schema: JsonObject): string {
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return String(type.find(each => each !== 'null') ?? 'null')
  if (schema.properties !== undefined || schema.required !== undefined) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array'
  if (schema.minimum !== undefined || schema.maximum !== undefined) return 'number'
  return 'string'
}

function makeString(schema: JsonObject, nth: number): string {
  const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined
  if (format !== undefined && nth === 0) return format
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : MAX_LENGTH
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, MAX_LENGTH) : 0
  return `${nth === 0 ? '' : nth}text`.slice(0, most).padEnd(least, 'x')
}

/** The lowest number allowed, zero where nothing forbids it. `step` 1: whole numbers. */
function makeNumber(schema: JsonObject, nth: number, step: 0 | 1): number {
  const multiple = typeof schema.multipleOf === 'number' && schema.multipleOf > 0 ? schema.multipleOf : step
  const least = numberOr(schema.minimum, Number.NEGATIVE_INFINITY)
  const over = numberOr(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY)
  const most = numberOr(schema.maximum, Number.POSITIVE_INFINITY)
  const under = numberOr(schema.exclusiveMaximum, Number.POSITIVE_INFINITY)
  const isAllowed = (value: number): boolean =>
    value >= least && value > over && value <= most && value < under
  if (isAllowed(nth)) {
    if (multiple === 0 || nth % multiple === 0) return nth
  }
  const floor = Math.max(least, over)
  const ceiling = Math.min(most, under)
  if (multiple === 0) {
    if (isAllowed(floor)) return floor
    if (isAllowed(ceiling)) return ceiling
    return Number.isFinite(floor) && Number.isFinite(ceiling) ? (floor + ceiling) / 2 : floor + 1 + nth
  }
  if (!Number.isFinite(floor)) return Math.floor(ceiling / multiple - (isAllowed(ceiling) ? 0 : 1)) * multiple
  const first = Math.ceil(floor / multiple)
  return (isAllowed(first * multiple) ? first + nth : first + 1 + nth) * multiple
}

function numberOr(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const properties = { ...toObject(a.properties), ...toObject(b.properties) }
  const required = [a.required, b.required].flatMap(names => (Array.isArray(names) ? names : []))
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  }
}

function firstOf(alternatives: Json | undefined): JsonObject | undefined {
  return toObjects(alternatives)[0]
}
