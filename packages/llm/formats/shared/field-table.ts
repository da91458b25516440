import type { Json, JsonObject } from '../../json/json-value.ts'
import type { ChatRequest } from '../../request/chat-request.ts'
import { isHarmless } from './harmless-params.ts'
import { type NumberRange, numberAt, objectAt, textAt, textsAt } from './read-fields.ts'

/** A canonical request while a format fills it. */
export type MutableRequest = { -readonly [K in keyof ChatRequest]: ChatRequest[K] }

/** Parameters that a format may have no field for, with the names that errors and headers use for them. */
export const PARAMETER_NAMES = {
  toolChoice: 'tool_choice',
  responseFormat: 'response_format',
  temperature: 'temperature',
  topP: 'top_p',
  stop: 'stop',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  parallelToolCalls: 'parallel_tool_calls',
  reasoningEffort: 'reasoning_effort',
} as const satisfies Partial<Record<keyof ChatRequest, string>>

export type Parameter = keyof typeof PARAMETER_NAMES

/** One field of a format's chat request. */
export interface Field {
  /** The canonical field that it stands for; absent: none, or the format reads it together with others. */
  readonly parameter?: keyof ChatRequest
  /** Further canonical fields that the format's own code takes from it. */
  readonly others?: readonly (keyof ChatRequest)[]
  /** Reads a caller's value, never null. Throws RequestError with `path`. Absent: the format's own code reads it. */
  readonly read?: (value: Json, path: string) => Json | readonly Json[]
  /** Returns the format's value for a canonical one; undefined: the field is left out. Absent: it is the same value. */
  readonly write?: (value: Json) => Json | undefined
  /** True if no other format has a place for this value, so that it is lost there. Absent: never. */
  readonly isOnlyHere?: (value: Json) => boolean
  /** The gateway does not read it, and other formats lose nothing without it. It passes on like an unknown field. */
  readonly isUnread?: true
  /** The fields of the object that it holds. */
  readonly table?: FieldTable
}

/** A field that the format's own code reads and writes. */
export function own(parameter?: keyof ChatRequest, ...others: readonly (keyof ChatRequest)[]): Field {
  return parameter === undefined ? {} : { parameter, others }
}

/** An object with fields of its own. */
export function nested(table: FieldTable): Field {
  return { table }
}

/** A field that passes on unread; see Field.isUnread. */
export function unread(): Field {
  return { isUnread: true }
}

/** A field that is read and written as it is. */
export function number(parameter: keyof ChatRequest, range: NumberRange = {}): Field {
  return { parameter, read: (value, path) => numberAt(value, path, range) }
}

export function text(parameter: keyof ChatRequest): Field {
  return { parameter, read: textAt }
}

export function texts(parameter: keyof ChatRequest): Field {
  return { parameter, read: textsAt }
}

/** A field that only this format knows, but for values that ask for nothing. */
export function onlyHere(asksForNothing: (value: Json) => boolean = () => false): Field {
  return { isOnlyHere: value => !asksForNothing(value) }
}

/**
 * The fields of a format's chat request, or of an object in it: the only list of them. The server side reads requests by
 * it, the client side writes them by it, and what a target of another format loses follows from it. Fields of a nested
 * object are named by their path, such as `inferenceConfig.topP`.
 */
export class FieldTable {
  readonly #fields: ReadonlyMap<string, Field>
  /** Parameters that no field of this format stands for. */
  readonly #missing: readonly Parameter[]
  /** Without unread fields. */
  readonly names: ReadonlySet<string>
  /** The format's names of parameters that it spells otherwise than PARAMETER_NAMES, by the names there. */
  readonly spellings: ReadonlyMap<string, string>

  constructor(fields: Readonly<Record<string, Field>>) {
    this.#fields = new Map(Object.entries(fields))
    this.names = new Set(Object.keys(fields).filter(name => fields[name]?.isUnread !== true))
    const spellings = new Map<string, string>()
    const missing = new Set(Object.keys(PARAMETER_NAMES) as Parameter[])
    const place = (parameter: Parameter, path: string): void => {
      // The first of several fields gives the name.
      if (missing.delete(parameter) && PARAMETER_NAMES[parameter] !== path)
        spellings.set(PARAMETER_NAMES[parameter], path)
    }
    for (const [name, { parameter, others = [], table }] of this.#fields) {
      for (const each of [parameter, ...others]) if (isParameter(each)) place(each, name)
      for (const [each, path] of table?.listPlaces() ?? []) place(each, `${name}.${path}`)
    }
    this.spellings = spellings
    this.#missing = [...missing]
  }

  /** Each parameter that a field of this table stands for, with the field's name. */
  listPlaces(): [Parameter, string][] {
    return (Object.keys(PARAMETER_NAMES) as Parameter[])
      .filter(parameter => !this.#missing.includes(parameter))
      .map(parameter => [
        parameter,
        this.spellings.get(PARAMETER_NAMES[parameter]) ?? PARAMETER_NAMES[parameter],
      ])
  }

  /** Reads every field that alone stands for a canonical one. Throws RequestError on a value of the wrong form. */
  read(body: JsonObject, request: MutableRequest, path = ''): void {
    for (const [name, { parameter, read, table }] of this.#fields) {
      const value = body[name]
      if (value === undefined || value === null) continue
      if (table !== undefined) table.read(objectAt(value, path + name), request, `${path}${name}.`)
      if (parameter === undefined || read === undefined) continue
      ;(request as Record<keyof ChatRequest, unknown>)[parameter] = read(value, path + name)
    }
  }

  /** Writes every canonical field that one field of the format alone stands for. */
  write(request: ChatRequest, body: JsonObject): void {
    for (const [name, { parameter, read, write, table }] of this.#fields) {
      if (table !== undefined) table.#writeInto(request, body, name)
      if (parameter === undefined || (read ?? write) === undefined) continue
      const given = request[parameter] as Json | undefined
      const value = given === undefined || write === undefined ? given : write(given)
      if (value !== undefined) body[name] = value
    }
  }

  #writeInto(request: ChatRequest, body: JsonObject, name: string): void {
    const object: JsonObject = {}
    this.write(request, object)
    if (Object.keys(object).length > 0) body[name] = object
  }

  /** The first field that the format does not know and a provider of it would get unread; undefined: there is none. */
  findUnknown(body: JsonObject): string | undefined {
    for (const name in body) {
      const value = body[name]
      if (value === undefined || value === null) continue
      if (!this.names.has(name)) return name
      const table = this.#fields.get(name)?.table
      const inner = table?.findUnknown(objectAt(value, name))
      if (inner !== undefined) return `${name}.${inner}`
    }
    return undefined
  }

  /** The fields that only a target of this format can honour, unknown ones included; those of nested objects come last. */
  listOnlyHere(body: JsonObject): string[] {
    const found: string[] = []
    const inner: string[] = []
    for (const name in body) {
      const value = body[name]
      if (value === undefined || value === null) continue
      const field = this.#fields.get(name)
      if (field === undefined || field.isOnlyHere?.(value) === true) found.push(name)
      if (field?.table === undefined) continue
      for (const each of field.table.listOnlyHere(objectAt(value, name))) inner.push(`${name}.${each}`)
    }
    return inner.length === 0 ? found : found.concat(inner)
  }

  /** The first field of a body that stands for the parameter; undefined: none does. */
  findFieldOf(parameter: keyof ChatRequest, body: JsonObject): string | undefined {
    for (const name in body) {
      if (body[name] !== null && this.#fields.get(name)?.parameter === parameter) return name
    }
    return undefined
  }

  /** PARAMETER_NAMES of what is set, has no field in this format, and whose loss would change the answer. */
  listUnsupported(request: ChatRequest): string[] {
    return listEffective(request, this.#missing)
  }
}

/** PARAMETER_NAMES of those that are set to a value whose loss would change the answer. */
export function listEffective(request: ChatRequest, parameters: readonly Parameter[]): string[] {
  return parameters
    .map(parameter => ({ name: PARAMETER_NAMES[parameter], value: request[parameter] as Json | undefined }))
    .filter(({ name, value }) => !isHarmless(name, value))
    .map(({ name }) => name)
}

/** The request without parameters. `names`: as in PARAMETER_NAMES, others are ignored. */
export function withoutNamed(request: ChatRequest, names: readonly string[]): ChatRequest {
  if (names.length === 0) return request
  return withoutParameters(
    request,
    (Object.keys(PARAMETER_NAMES) as Parameter[]).filter(each => names.includes(PARAMETER_NAMES[each])),
  )
}

/** The request without parameters; the same object where none of them is set. */
export function withoutParameters(request: ChatRequest, parameters: readonly Parameter[]): ChatRequest {
  if (parameters.every(parameter => request[parameter] === undefined)) return request
  const rest: MutableRequest = { ...request }
  for (const parameter of parameters) delete rest[parameter]
  return rest
}

function isParameter(name: keyof ChatRequest | undefined): name is Parameter {
  return name !== undefined && Object.hasOwn(PARAMETER_NAMES, name)
}
