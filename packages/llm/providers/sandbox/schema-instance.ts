import type { Json, JsonObject } from '../../json/json-value.ts'
import { toObject } from '../../json/json-value.ts'
import { toTable } from '../../json/to-table.ts'

/**
 * The steps that one instance may take. Each value, schema, name, reference and 32 characters of a text is one, so that a
 * schema that is recursive, asks for a billion items or joins thousands of others ends soon. What is left is null.
 */
const MAX_STEPS = 20_000
const STEP_CHARACTERS = 32
const MAX_DEPTH = 24
const MAX_LENGTH = 1000
/** A longer reference leads nowhere. */
const MAX_REF = 1024

/** The number of types in JSON Schema. */
const TYPES = 7

/** The keywords that are read, except those that join schemas. */
const KEYWORDS = [
  ...['const', 'enum', 'type', 'items', 'prefixItems', 'minItems', 'format', 'minLength', 'maxLength'],
  ...['multipleOf', 'minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'],
] as const

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
  return new InstanceBuilder(schema).make(schema, 0, 0)
}

/** Schemas that all hold for one value, as one: later keywords replace earlier ones. */
interface JoinedSchema {
  readonly keywords: Partial<Record<(typeof KEYWORDS)[number], Json>>
  properties: Map<string, Json | undefined> | undefined
  required: Set<string> | undefined
}

class InstanceBuilder {
  private readonly root: Json | undefined
  private steps = 0

  constructor(root: Json | undefined) {
    this.root = root
  }

  /** `nth` makes the values of an array differ, for `uniqueItems`. */
  make(given: Json | undefined, depth: number, nth: number): Json {
    const joined: JoinedSchema = { keywords: {}, properties: undefined, required: undefined }
    if (depth > MAX_DEPTH || !this.join(given, depth, joined)) return null
    const { keywords } = joined
    if (keywords.const !== undefined) return this.take(keywords.const)
    if (Array.isArray(keywords.enum) && keywords.enum.length > 0) {
      return this.take(keywords.enum[nth % keywords.enum.length] as Json)
    }
    switch (typeOf(joined)) {
      case 'object':
        return this.makeObject(joined, depth)
      case 'array':
        return this.makeArray(keywords, depth)
      case 'string':
        return this.take(makeString(keywords, nth))
      case 'integer':
        return makeNumber(keywords, nth, 1)
      case 'number':
        return makeNumber(keywords, nth, 0)
      case 'boolean':
        return nth % 2 === 1
      default:
        return null
    }
  }

  private makeObject({ properties, required }: JoinedSchema, depth: number): JsonObject {
    const entries: [string, Json][] = []
    for (const name of required ?? properties?.keys() ?? []) {
      if (!this.spendText(name)) break
      const schema = properties?.has(name) === true ? properties.get(name) : { type: 'string' }
      entries.push([name, this.make(schema, depth + 1, 0)])
    }
    return Object.fromEntries(entries)
  }

  private makeArray(keywords: JoinedSchema['keywords'], depth: number): Json[] {
    const prefix = Array.isArray(keywords.prefixItems) ? keywords.prefixItems : []
    const least = typeof keywords.minItems === 'number' ? Math.min(keywords.minItems, MAX_LENGTH) : 0
    const items: Json[] = []
    for (let at = 0; at < Math.max(least, prefix.length) && this.spend(1); at++) {
      items.push(this.make(prefix[at] ?? keywords.items ?? { type: 'string' }, depth + 1, at))
    }
    return items
  }

  /**
   * Adds a schema to `joined`: what a reference leads to, and with its own keywords those of its first alternatives and of its
   * conjunctions. Returns false if there is none. A schema may refer to what it is a part of, so the depth counts here too.
   */
  private join(given: Json | undefined, depth: number, joined: JoinedSchema): boolean {
    let schema = toObject(given)
    for (let hops = 0; typeof schema?.$ref === 'string'; hops++) {
      schema = hops < MAX_DEPTH ? toObject(this.findRef(schema.$ref)) : undefined
    }
    if (schema === undefined || depth > MAX_DEPTH || !this.spend(1)) return false
    for (const keyword of KEYWORDS) {
      const value = schema[keyword]
      if (value !== undefined) joined.keywords[keyword] = value
    }
    this.joinNames(schema, joined)
    for (const alternatives of [schema.anyOf, schema.oneOf]) {
      for (const part of this.objectsOf(alternatives)) {
        this.join(part, depth + 1, joined)
        break
      }
    }
    for (const part of this.objectsOf(schema.allOf)) this.join(part, depth + 1, joined)
    return true
  }

  private joinNames(schema: JsonObject, joined: JoinedSchema): void {
    const properties = toObject(schema.properties)
    if (properties !== undefined) {
      joined.properties ??= new Map()
      for (const name in properties) {
        if (!this.spend(1)) return
        joined.properties.set(name, properties[name])
      }
    }
    if (!Array.isArray(schema.required)) return
    joined.required ??= new Set()
    for (const name of schema.required) {
      if (!this.spend(1)) return
      if (typeof name === 'string') joined.required.add(name)
    }
  }

  private *objectsOf(list: Json | undefined): Generator<JsonObject> {
    if (!Array.isArray(list)) return
    for (const item of list) {
      if (!this.spend(1)) return
      const object = toObject(item)
      if (object !== undefined) yield object
    }
  }

  private findRef(ref: string): Json | undefined {
    if (!ref.startsWith('#') || ref.length > MAX_REF || !this.spendText(ref)) return undefined
    let at: Json | undefined = this.root
    for (const step of ref.split('/').slice(1)) {
      if (!this.spend(1)) return undefined
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      if (Array.isArray(at)) at = /^\d+$/.test(name) ? at[Number(name)] : undefined
      else if (typeof at === 'object' && at !== null) at = Object.hasOwn(at, name) ? at[name] : undefined
      else return undefined
    }
    return at
  }

  /** Returns a value of the schema, or null if it is too large for the steps that are left. */
  private take(value: Json): Json {
    return this.spendValue(value) ? value : null
  }

  private spendValue(value: Json | undefined): boolean {
    if (typeof value === 'string') return this.spendText(value)
    if (!this.spend(1)) return false
    if (Array.isArray(value)) return value.every(item => this.spendValue(item))
    const object = toObject(value)
    for (const name in object) {
      if (!this.spendText(name) || !this.spendValue(object[name])) return false
    }
    return true
  }

  private spendText(text: string): boolean {
    return this.spend(1 + Math.floor(text.length / STEP_CHARACTERS))
  }

  /** Returns false once the steps are used up. */
  private spend(steps: number): boolean {
    this.steps += steps
    return this.steps <= MAX_STEPS
  }
}

function typeOf({ keywords, properties, required }: JoinedSchema): string {
  const { type } = keywords
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return String(type.slice(0, TYPES).find(type => type !== 'null') ?? 'null')
  if (properties !== undefined || required !== undefined) return 'object'
  if (keywords.items !== undefined || keywords.prefixItems !== undefined) return 'array'
  if (keywords.minimum !== undefined || keywords.maximum !== undefined) return 'number'
  return 'string'
}

function makeString(schema: JoinedSchema['keywords'], nth: number): string {
  const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined
  if (format !== undefined && nth === 0) return format
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : MAX_LENGTH
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, MAX_LENGTH) : 0
  return `${nth === 0 ? '' : nth}text`.slice(0, most).padEnd(least, 'x')
}

/** The lowest number allowed, zero where nothing forbids it. `step` 1: whole numbers. */
function makeNumber(schema: JoinedSchema['keywords'], nth: number, step: 0 | 1): number {
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
