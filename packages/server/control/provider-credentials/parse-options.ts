import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Provider, ProviderOption } from '@rideau/llm/provider/provider'
import { isAddressPart } from '@rideau/llm/upstream/base-address'
import { Fault } from '../../core/fault.ts'

/** AWS session tokens have more than a thousand characters. */
const MAX_TEXT = 4096
const MAX_ENTRIES = 200
/** The most bytes of all options as JSON. Every worker holds them. */
export const MAX_OPTIONS_BYTES = 64 * 1024
// jsonb rejects NUL and lone surrogates. Control characters are rejected too: no option needs them.
const PRINTABLE = /^[^\p{Cc}\p{Cs}]+$/u

/**
 * Checks the options of a credential against the provider's list. Throws 400 with the name of an unknown or invalid
 * option.
 */
export function parseOptions(provider: Provider, given: Readonly<Record<string, unknown>>): JsonObject {
  const known = provider.options ?? []
  for (const name of Object.keys(given)) {
    if (!known.some(option => option.name === name)) {
      throw refusal(name, 'is not an option of this provider.')
    }
  }
  const parsed = new Map<string, string | JsonObject>()
  for (const option of known) {
    const value = given[option.name]
    if (value !== undefined && value !== null) parsed.set(option.name, parseFitting(provider, option, value))
    else if (option.required) throw refusal(option.name, 'is needed by this provider.')
  }
  const options = Object.fromEntries(parsed)
  const bytes = Buffer.byteLength(JSON.stringify(options))
  if (bytes <= MAX_OPTIONS_BYTES) return options
  const message = `options must have at most ${MAX_OPTIONS_BYTES} bytes as JSON; got ${bytes}.`
  throw new Fault('invalid_request', message, { param: 'options' })
}

/** Checks one option. An option that is part of the address allows fewer characters. */
function parseFitting(provider: Provider, option: ProviderOption, value: unknown): string | JsonObject {
  const parsed = parseValue(option, value)
  if (typeof parsed !== 'string' || isAddressPart(provider, option.name, parsed)) return parsed
  throw refusal(option.name, "does not fit into the provider's address.")
}

function parseValue({ name, type }: ProviderOption, value: unknown): string | JsonObject {
  if (type === 'text') return parseText(name, value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal(name, 'must be an object of strings.')
  }
  const entries = Object.entries(value)
  if (entries.length > MAX_ENTRIES) throw refusal(name, `must have at most ${MAX_ENTRIES} entries.`)
  return Object.fromEntries(
    entries.map(([key, text]) => [parseText(name, key), parseText(`${name}.${key}`, text)]),
  )
}

function parseText(name: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= MAX_TEXT && PRINTABLE.test(value)) return value
  throw refusal(name, `must be a string of 1 to ${MAX_TEXT} characters.`)
}

function refusal(name: string, message: string): Fault {
  return new Fault('invalid_request', `options.${name} ${message}`, { param: `options.${name}` })
}
