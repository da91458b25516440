import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { toCamel } from '../wire/spell-camel.ts'

/** Counts that the older form writes as strings, because they have 64 bits. */
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
const SCHEMAS: ReadonlySet<string> = new Set(['items', 'additionalProperties'])
const LISTS: ReadonlySet<string> = new Set(['anyOf', 'prefixItems'])
const MAPS: ReadonlySet<string> = new Set(['properties', 'defs', '$defs'])

/**
 * A schema in the API's older form as JSON Schema. The older form is a part of OpenAPI's with types in capitals.
 */
export function decodeSchema(schema: JsonObject): JsonObject {
  const decoded = toTable<JsonObject>({})
  for (const [given, value] of Object.entries(schema)) {
    if (value === undefined || value === null) continue
    const name = toCamel(given)
    // Both are expressed otherwise, see below.
    if (name === 'nullable' || name === 'propertyOrdering') continue
    decoded[name] = decodeKeyword(name, value)
  }
  const properties = toObject(decoded.properties)
  const ordering = schema.propertyOrdering ?? schema.property_ordering
  if (properties !== undefined && Array.isArray(ordering)) decoded.properties = order(properties, ordering)
  // JSON Schema has no format `enum`, and the list of values is there already.
  if (decoded.format === 'enum') delete decoded.format
  return schema.nullable === true ? withNull(decoded) : decoded
}

function decodeKeyword(name: string, value: Json): Json {
  const object = toObject(value)
  if (name === 'type' && typeof value === 'string') return value.toLowerCase()
  if (COUNTS.has(name) && typeof value === 'string' && /^\d+$/.test(value)) return Number(value)
  if (SCHEMAS.has(name) && object !== undefined) return decodeSchema(object)
  if (LISTS.has(name)) return toArray(value).map(item => decodeOne(item))
  if (MAPS.has(name) && object !== undefined) {
    return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, decodeOne(value ?? null)]))
  }
  return value
}

function decodeOne(value: Json): Json {
  const object = toObject(value)
  return object === undefined ? value : decodeSchema(object)
}

function order(properties: JsonObject, names: readonly Json[]): JsonObject {
  const ordered = new Map<string, Json | undefined>()
  for (const name of names) {
    if (typeof name === 'string' && Object.hasOwn(properties, name)) ordered.set(name, properties[name])
  }
  for (const name in properties) if (!ordered.has(name)) ordered.set(name, properties[name])
  return Object.fromEntries(ordered)
}

function withNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  }
}
