import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import {
  FieldRules,
  REFUSED,
  type Rule,
  SCALAR,
  toFieldsRule,
  type UnknownFields,
} from '../../../upstream/outgoing-rules.ts'
import { flagAt, type NumberRange, numberAt, objectAt, textAt, textsAt } from '../reading/read-fields.ts'
import { isHarmless } from './harmless-params.ts'

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
  /**
   * What of it may go to a provider: see outgoing-rules.ts. Absent: SCALAR where the table itself reads the value, and the
   * fields' own rules where it is `nested`. Any other field goes to no provider.
   */
  readonly sent?: Rule
  /** The canonical field that it stands for; absent: none, or the format reads it together with others. */
  readonly parameter?: keyof ChatRequest
  /** Further canonical fields that the format's own code takes from it. */
  readonly others?: readonly (keyof ChatRequest)[]
  /** The extra field of a request (ChatRequest.extra) that it stands for. */
  readonly extra?: string
  /**
   * Reads a caller's value, never null. Throws RequestError with `path`; undefined: it asks for nothing. Absent: the
   * format's own code reads it.
   */
  readonly read?: (value: Json, path: string) => unknown
  /** Returns the format's value for a canonical one; undefined: the field is left out. Absent: it is the same value. */
  readonly write?: (value: Json) => Json | undefined
  /** True if no other format has a place for this value, so that it is lost there. Absent: never. */
  readonly isFormatSpecific?: (value: Json) => boolean
  /** The gateway does not read it, and other formats lose nothing without it. It passes on like an unknown field. */
  readonly isOpaque?: true
  /** The fields of the object that it is. */
  readonly nested?: FieldTable
}

/** A field with the rule of what may go to a provider. */
export function sent(rule: Rule, field: Field = {}): Field {
  return { ...field, sent: rule }
}

/** A field that the format's own code reads and writes. */
export function own(parameter?: keyof ChatRequest, ...others: readonly (keyof ChatRequest)[]): Field {
  return parameter === undefined ? {} : { parameter, others }
}

/** A field that passes on unread; see Field.isOpaque. */
export function opaque(): Field {
  return { isOpaque: true }
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

export function flag(parameter: keyof ChatRequest): Field {
  return { parameter, read: flagAt }
}

/** A field whose value has the canonical form already: `read` checks it. */
export function checked(parameter: keyof ChatRequest, read: NonNullable<Field['read']>): Field {
  return { parameter, read }
}

/** A field that stands for an extra field of the same or another name. It is written as it is. */
export function extra(name: string, field: Field = {}): Field {
  return { ...field, extra: name }
}

/** A field that is an object with fields of its own. */
export function nested(fields: FieldTable): Field {
  return { nested: fields }
}

/** Returns a field that no other format can express, except values that ask for nothing. `read` checks its form. */
export function formatSpecific(
  asksForNothing: (value: Json) => boolean = () => false,
  read?: NonNullable<Field['read']>,
): Field {
  const isFormatSpecific = (value: Json): boolean => !asksForNothing(value)
  return read === undefined ? { isFormatSpecific } : { isFormatSpecific, read }
}

interface TableOptions {
  /** What becomes of other fields in a body that goes to a provider. Default: `reserved`. */
  readonly unknown?: UnknownFields
  /** A second spelling of each name, which providers take too. */
  readonly respell?: (name: string) => string
  /** Fields that only the gateway writes, such as a provider's other word for a parameter. No caller's field is read there. */
  readonly written?: Readonly<Record<string, Rule>>
}

interface NamedField extends Field {
  readonly name: string
}

/**
 * The fields of a format's chat request, or of an object in it: the only list of them. The server side reads requests by
 * it, the client side writes them by it, and what a target of another format loses follows from it. Fields of a nested
 * object are named by their path, such as `inferenceConfig.topP`.
 */
export class FieldTable {
  readonly #fields: ReadonlyMap<string, NamedField>
  /** The fields that `read` and `write` handle. */
  readonly #handled: readonly NamedField[]
  /** Parameters that no field of this format stands for. */
  readonly #missing: readonly Parameter[]
  /** The fields of each canonical one. */
  readonly #byParameter = new Map<keyof ChatRequest, readonly string[]>()
  /** The names of the fields, without opaque ones. */
  readonly names: ReadonlySet<string>
  /**
   * The format's names of parameters and extra fields that it spells otherwise than PARAMETER_NAMES or ChatRequest.extra,
   * by the names there. A name of a nested field is a path.
   */
  readonly spellings: ReadonlyMap<string, string>
  /** Extra fields that a field of this format stands for. */
  readonly extras: readonly string[]
  /** What of each field may go to a provider. */
  readonly rules: FieldRules

  constructor(fields: Readonly<Record<string, Field>>, options: TableOptions = {}) {
    this.rules = new FieldRules(listRules(fields, options), options.unknown ?? 'reserved')
    this.#fields = new Map(Object.entries(fields).map(([name, field]) => [name, { ...field, name }]))
    const all = [...this.#fields.values()]
    this.names = new Set(all.filter(({ isOpaque }) => isOpaque !== true).map(({ name }) => name))
    this.#handled = all.filter(
      ({ read, write, extra, nested }) =>
        read !== undefined || write !== undefined || extra !== undefined || nested !== undefined,
    )
    const spellings = new Map<string, string>()
    const missing = new Set(Object.keys(PARAMETER_NAMES) as Parameter[])
    const extras: string[] = []
    const place = (parameter: Parameter, path: string): void => {
      // The first of several fields gives the name.
      if (missing.delete(parameter) && PARAMETER_NAMES[parameter] !== path)
        spellings.set(PARAMETER_NAMES[parameter], path)
    }
    for (const { name, parameter, others = [], extra, nested } of all) {
      if (parameter !== undefined) this.#byParameter.set(parameter, [...this.namesOf(parameter), name])
      for (const other of [parameter, ...others]) if (isParameter(other)) place(other, name)
      if (extra !== undefined) {
        extras.push(extra)
        if (extra !== name) spellings.set(extra, name)
      }
      if (nested === undefined) continue
      for (const parameter of nested.#listParameters()) {
        place(parameter, `${name}.${nested.spell(PARAMETER_NAMES[parameter])}`)
      }
      extras.push(...nested.extras)
      for (const extra of nested.extras) spellings.set(extra, `${name}.${nested.spell(extra)}`)
    }
    this.spellings = spellings
    this.#missing = [...missing]
    this.extras = extras
  }

  #listParameters(): readonly Parameter[] {
    const parameters = Object.keys(PARAMETER_NAMES) as Parameter[]
    return parameters.filter(parameter => !this.#missing.includes(parameter))
  }

  /** The format's name or path of a parameter or extra field. */
  spell(name: string): string {
    return this.spellings.get(name) ?? name
  }

  /**
   * Reads every field that alone stands for a canonical one, and checks those that have no canonical meaning. Throws
   * RequestError on a value of the wrong form. `path`: of the body, with a dot at its end.
   */
  read(body: JsonObject, request: MutableRequest, path = ''): void {
    for (const { name, parameter, read, nested } of this.#handled) {
      const value = body[name]
      if (value === undefined || value === null) continue
      if (nested !== undefined) nested.read(objectAt(value, path + name), request, `${path}${name}.`)
      if (read === undefined) continue
      const own = read(value, path + name)
      if (parameter === undefined || own === undefined) continue
      ;(request as Record<keyof ChatRequest, unknown>)[parameter] = own
    }
  }

  /** Writes every canonical and extra field that one field of the format alone stands for. */
  write(request: ChatRequest, body: JsonObject): void {
    for (const { name, parameter, extra, read, write, nested } of this.#handled) {
      if (nested !== undefined) nested.#writeInto(request, body, name)
      const isHandled = parameter !== undefined && (read ?? write) !== undefined
      const own = isHandled ? request[parameter] : undefined
      const given = (own ?? (extra === undefined ? undefined : request.extra?.get(extra))) as Json | undefined
      const value = given === undefined || write === undefined ? given : write(given)
      if (value !== undefined) body[name] = value
    }
  }

  #writeInto(request: ChatRequest, body: JsonObject, name: string): void {
    const inner = toObject(body[name]) ?? {}
    this.write(request, inner)
    if (Object.keys(inner).length > 0) body[name] = inner
  }

  /** The names of the fields that stand for a canonical one. */
  namesOf(parameter: keyof ChatRequest): readonly string[] {
    return this.#byParameter.get(parameter) ?? NO_NAMES
  }

  /** What a request asks in the field of this name: a canonical value, or an extra field; undefined: nothing. */
  valueOf(request: ChatRequest, name: string): Json | undefined {
    const parameter = this.#fields.get(name)?.parameter
    return parameter === undefined ? request.extra?.get(name) : (request[parameter] as Json | undefined)
  }

  /** The fields of a body that no canonical one stands for, for ChatRequest.extra; undefined: there are none. */
  readExtra(body: JsonObject): ReadonlyMap<string, Json> | undefined {
    let extra: Map<string, Json> | undefined
    for (const name in body) {
      const value = body[name]
      if (value === undefined || value === null || this.#fields.get(name)?.parameter !== undefined) continue
      extra ??= new Map()
      extra.set(name, value)
    }
    return extra
  }

  /**
   * Removes a parameter or an extra field from a body that was made by this table. Other names are ignored: they are fields
   * of the caller's format, which may have the name of another field here, such as the object that has the output cap.
   */
  remove(body: JsonObject, name: string): void {
    if (!this.#isRemovable(name)) return
    const path = this.spell(name)
    const dot = path === name ? -1 : path.indexOf('.')
    if (dot < 0) {
      delete body[path]
      return
    }
    const object = path.slice(0, dot)
    const inner = toObject(body[object])
    if (inner === undefined) return
    delete inner[path.slice(dot + 1)]
    if (Object.keys(inner).length === 0) delete body[object]
  }

  #isRemovable(name: string): boolean {
    if (PARAMETERS.has(name) || this.extras.includes(name)) return true
    const field = this.#fields.get(name)
    return field?.read !== undefined && field.parameter === name
  }

  /** The first field that the format does not know and a provider of it would get unread; undefined: there is none. */
  findUnknown(body: JsonObject): string | undefined {
    for (const name in body) {
      const value = body[name]
      if (value === undefined || value === null) continue
      if (!this.names.has(name)) return name
      const inner = this.#fields.get(name)?.nested?.findUnknown(objectAt(value, name))
      if (inner !== undefined) return `${name}.${inner}`
    }
    return undefined
  }

  /** Returns true if an end user may send the field, provided that its value is allowed. A known field that is null is absent. */
  isForEndUsers(name: string, value: Json | undefined): boolean {
    const rule = this.rules.find(name)
    if (value === null && rule !== undefined) return true
    return this.names.has(name) && rule?.isForKeys !== true
  }

  /** The first field of a body that stands for the parameter; undefined: none does. */
  findFieldOf(parameter: keyof ChatRequest, body: JsonObject): string | undefined {
    for (const name in body) {
      if (body[name] !== null && this.#fields.get(name)?.parameter === parameter) return name
    }
    return undefined
  }

  /** Returns true if no other format has a place for this value of the field, which is not null. */
  isFormatSpecific(name: string, value: Json): boolean {
    return this.#fields.get(name)?.isFormatSpecific?.(value) === true
  }

  /** The fields that only a target of this format can honour, unknown ones included; those of nested objects come last. */
  listFormatSpecific(body: JsonObject): string[] {
    const found: string[] = []
    const inner: string[] = []
    for (const name in body) {
      const value = body[name]
      if (value === undefined || value === null) continue
      const field = this.#fields.get(name)
      if (field === undefined || field.isFormatSpecific?.(value) === true) found.push(name)
      if (field?.nested === undefined) continue
      for (const item of field.nested.listFormatSpecific(objectAt(value, name))) inner.push(`${name}.${item}`)
    }
    found.push(...inner)
    return found
  }

  /** PARAMETER_NAMES of what is set, has no field in this format, and whose loss would change the answer. */
  listUnsupported(request: ChatRequest): string[] {
    return listEffective(request, this.#missing)
  }
}

function listRules(
  fields: Readonly<Record<string, Field>>,
  { respell, written = {} }: TableOptions,
): [string, Rule][] {
  const rules = Object.entries(fields).map(([name, field]): [string, Rule] => [name, toRule(field)])
  rules.push(...Object.entries(written))
  if (respell === undefined) return rules
  return [...rules, ...rules.map(([name, rule]): [string, Rule] => [respell(name), rule])]
}

function toRule({ sent: rule, nested, read }: Field): Rule {
  if (rule !== undefined) return rule
  if (nested !== undefined) return toFieldsRule(nested.rules)
  return read === undefined ? REFUSED : SCALAR
}

const NO_NAMES: readonly string[] = []

function isParameter(name: keyof ChatRequest | undefined): name is Parameter {
  return name !== undefined && Object.hasOwn(PARAMETER_NAMES, name)
}

const PARAMETERS: ReadonlyMap<string, Parameter> = new Map(
  (Object.keys(PARAMETER_NAMES) as Parameter[]).map(parameter => [PARAMETER_NAMES[parameter], parameter]),
)

/** The `names` of parameters and extra fields that are set, and whose loss would change the answer. */
export function listSet(request: ChatRequest, names: readonly string[]): string[] {
  return names.filter(name => {
    const parameter = PARAMETERS.get(name)
    const own = parameter === undefined ? undefined : (request[parameter] as Json | undefined)
    return !isHarmless(name, own ?? request.extra?.get(name))
  })
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
    (Object.keys(PARAMETER_NAMES) as Parameter[]).filter(parameter =>
      names.includes(PARAMETER_NAMES[parameter]),
    ),
  )
}

/** The request without parameters; the same object where none of them is set. */
export function withoutParameters(request: ChatRequest, parameters: readonly Parameter[]): ChatRequest {
  if (parameters.every(parameter => request[parameter] === undefined)) return request
  const rest: MutableRequest = { ...request }
  for (const parameter of parameters) delete rest[parameter]
  return rest
}
