import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'

/** Keywords of JSON Schema that Claude's structured output takes. */
const KEPT: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'enum',
  'const',
  'default',
  '$ref',
  'required',
])
const FORMATS: ReadonlySet<Json | undefined> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])
const MAPS_OF_SCHEMAS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const LISTS_OF_SCHEMAS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])

/**
 * Returns a JSON Schema that Claude's structured output accepts: keywords that it refuses, such as `minimum`, move into the
 * description, and every object gets `additionalProperties: false`, which it demands. Properties may be named like keywords.
 * The argument is not changed.
 */
export function encodeSchema(schema: JsonObject): JsonObject {
  const encoded = toTable<JsonObject>({})
  const described: string[] = []
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined || name === '$schema' || name === '$id' || name === 'additionalProperties')
      continue
    if (MAPS_OF_SCHEMAS.has(name)) encoded[name] = mapSchemas(toObject(value) ?? {})
    else if (LISTS_OF_SCHEMAS.has(name) && Array.isArray(value)) {
      encoded[name === 'oneOf' ? 'anyOf' : name] = value.map(encodeAny)
    } else if (name === 'items') encoded.items = encodeAny(value)
    else if (KEPT.has(name)) encoded[name] = value
    else if (name === 'format' && FORMATS.has(value)) encoded.format = value
    else if (name === 'minItems' && (value === 0 || value === 1)) encoded.minItems = value
    else described.push(`${name}: ${JSON.stringify(value)}`)
  }
  if (isObjectSchema(schema)) encoded.additionalProperties = false
  if (described.length > 0) {
    const own = typeof encoded.description === 'string' ? `${encoded.description}\n` : ''
    encoded.description = `${own}{${described.join(', ')}}`
  }
  return encoded
}

/**
 * True if encodeSchema keeps what the schema allows. An object whose properties have any name, such as a map of texts, would become
 * one that has none: Claude's structured output knows no such object.
 */
export function isEncodable(schema: JsonObject): boolean {
  if (isMap(schema)) return false
  return Object.entries(schema).every(([name, value]) => {
    if (MAPS_OF_SCHEMAS.has(name)) return Object.values(toObject(value) ?? {}).every(isEncodableAny)
    if (LISTS_OF_SCHEMAS.has(name) && Array.isArray(value)) return value.every(isEncodableAny)
    return name !== 'items' || isEncodableAny(value)
  })
}

function isEncodableAny(value: Json | undefined): boolean {
  const schema = toObject(value)
  return schema === undefined || isEncodable(schema)
}

/** Properties that a schema names beside others are often all that is meant: `additionalProperties: true` is left out there. */
function isMap(schema: JsonObject): boolean {
  const { additionalProperties: others, patternProperties: patterns } = schema
  if (hasFields(patterns) || hasFields(others)) return true
  const isOpen = others === true || (others !== undefined && toObject(others) !== undefined)
  return isOpen && isObjectSchema(schema) && !hasFields(schema.properties)
}

function hasFields(value: Json | undefined): boolean {
  const object = toObject(value)
  return object !== undefined && Object.keys(object).length > 0
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined
}

function encodeAny(value: Json): Json {
  const schema = toObject(value)
  return schema === undefined ? value : encodeSchema(schema)
}

function mapSchemas(map: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, value === undefined ? value : encodeAny(value)]),
  )
}
