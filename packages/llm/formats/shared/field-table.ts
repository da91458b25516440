import type { Json, JsonObject } from '../../json/json-value.ts'
import type { ChatRequest } from '../../request/chat-request.ts'
import { isHarmless } from './harmless-params.ts'
import { flagAt, type NumberRange, numberAt, textAt, textsAt } from './read-fields.ts'

/** A canonical request while a format fills it. */
export type MutableRequest = { -readonly [K in keyof ChatRequest]: ChatRequest[K] }

/** Parameters that a format may have no field for, with the names that errors and headers use for them. */
export const PARAMETER_NAMES = {
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'response_format',
  temperature: 'temperature',
  topP: 'top_p',
  stop: 'stop',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  reasoningEffort: 'reasoning_effort',
} as const satisfies Partial<Record<keyof ChatRequest, string>>

type Parameter = keyof typeof PARAMETER_NAMES

/** One top-level field of a format's chat request. */
export interface Field {
  /** The canonical field that it stands for; absent: none, or the format reads it together with others. */
  readonly parameter?: keyof ChatRequest
  /** Reads a caller's value, never null. Throws RequestError with `path`. Absent: the format's own code reads it. */
  readonly read?: (value: Json, path: string) => unknown
  /** True if no other format has a place for this value, so that it is lost there. Absent: never. */
  readonly isOnlyHere?: (value: Json) => boolean
  /** The gateway knows the name, but does not read the value: a provider of the format gets it unread. */
  readonly isUnread?: true
}

/** A field that the format's own code reads and writes. */
export function own(parameter?: keyof ChatRequest): Field {
  return parameter === undefined ? {} : { parameter }
}

/** A field that is read and written as it is. */
export function number(parameter: keyof ChatRequest, range: NumberRange = {}): Field {
  return { parameter, read: (value, path) => numberAt(value, path, range) }
}

export function text(parameter: keyof ChatRequest): Field {
  return { parameter, read: textAt }
}

export function flag(parameter: keyof ChatRequest): Field {
  return { parameter, read: flagAt }
}

export function texts(parameter: keyof ChatRequest): Field {
  return { parameter, read: textsAt }
}

/** A field whose value `read` checks. It has the same form in the canonical request, where it is written from as it is. */
export function checked(parameter: keyof ChatRequest, read: (value: Json, path: string) => unknown): Field {
  return { parameter, read }
}

/** A field that goes to a provider of the format unread. */
export function unread(): Field {
  return { isUnread: true }
}

/** A field that only this format knows, but for values that ask for nothing. */
export function onlyHere(asksForNothing: (value: Json) => boolean = () => false): Field {
  return { isOnlyHere: value => !asksForNothing(value) }
}

/**
 * The fields of a format's chat request: the only list of them. The server side reads requests by it, the client side
 * writes them by it, and what a target of another format loses follows from it.
 */
export class FieldTable {
  readonly #fields: ReadonlyMap<string, Field>
  /** Parameters that no field of this format stands for. */
  readonly #missing: readonly Parameter[]
  readonly #names = new Map<keyof ChatRequest, readonly string[]>()
  readonly names: ReadonlySet<string>
  /** The format's names of parameters that it spells otherwise than PARAMETER_NAMES, by the names there. */
  readonly spellings: ReadonlyMap<string, string>

  constructor(fields: Readonly<Record<string, Field>>) {
    this.#fields = new Map(Object.entries(fields))
    this.names = new Set(Object.keys(fields))
    const spellings = new Map<string, string>()
    const missing = new Set(Object.keys(PARAMETER_NAMES) as Parameter[])
    for (const [name, { parameter }] of this.#fields) {
      if (parameter === undefined) continue
      this.#names.set(parameter, [...this.namesOf(parameter), name])
      if (!isParameter(parameter)) continue
      missing.delete(parameter)
      if (PARAMETER_NAMES[parameter] !== name) spellings.set(PARAMETER_NAMES[parameter], name)
    }
    this.spellings = spellings
    this.#missing = [...missing]
  }

  /** Reads every field that alone stands for a canonical one. Throws RequestError on a value of the wrong form. */
  read(body: JsonObject, request: MutableRequest): void {
    for (const [name, { parameter, read }] of this.#fields) {
      if (parameter === undefined || read === undefined) continue
      const value = body[name]
      if (value === undefined || value === null) continue
      ;(request as Record<keyof ChatRequest, unknown>)[parameter] = read(value, name)
    }
  }

  /** Writes every canonical field that one field of the format alone stands for. */
  write(request: ChatRequest, body: JsonObject): void {
    for (const [name, { parameter, read }] of this.#fields) {
      if (parameter === undefined || read === undefined) continue
      const value = request[parameter] as Json | undefined
      if (value !== undefined) body[name] = value
    }
  }

  /** The names of the fields that stand for a canonical one. */
  namesOf(parameter: keyof ChatRequest): readonly string[] {
    return this.#names.get(parameter) ?? NO_NAMES
  }

  /** What a request asks in the field of this name: its canonical value, or an extra one; undefined: nothing. */
  valueOf(request: ChatRequest, name: string): Json | undefined {
    const parameter = this.#fields.get(name)?.parameter
    return parameter === undefined ? request.extra?.get(name) : (request[parameter] as Json | undefined)
  }

  /** Does the gateway know the field and read its value? */
  isRead(name: string): boolean {
    const field = this.#fields.get(name)
    return field !== undefined && field.isUnread !== true
  }

  /** The fields without canonical meaning; undefined: there are none. */
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

  /** The first field that the format does not know and a provider of it would get unread; undefined: there is none. */
  findUnknown(body: JsonObject): string | undefined {
    for (const name in body) if (!this.names.has(name) && body[name] !== null) return name
    return undefined
  }

  /** The fields that only a target of this format can honour, unknown ones included. */
  listOnlyHere(body: JsonObject): string[] {
    const found: string[] = []
    for (const name in body) {
      const value = body[name]
      if (value === undefined || value === null) continue
      const field = this.#fields.get(name)
      if (field === undefined || field.isOnlyHere?.(value) === true) found.push(name)
    }
    return found
  }

  /** PARAMETER_NAMES of what is set, has no field in this format, and whose loss would change the answer. */
  listUnsupported(request: ChatRequest): string[] {
    return this.#missing
      .map(parameter => ({ name: PARAMETER_NAMES[parameter], value: request[parameter] as Json | undefined }))
      .filter(({ name, value }) => !isHarmless(name, value))
      .map(({ name }) => name)
  }
}

const NO_NAMES: readonly string[] = []

function isParameter(name: keyof ChatRequest): name is Parameter {
  return Object.hasOwn(PARAMETER_NAMES, name)
}
