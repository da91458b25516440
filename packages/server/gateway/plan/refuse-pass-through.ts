import { invalid } from '@rideau/llm/formats/shared/read-fields'
import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import type { Caller, Environment } from '../../core/tenancy.ts'

/** Where each format says what is said. */
const SAID = ['messages', 'input', 'contents', 'system', 'systemInstruction', 'system_instruction']

/**
 * A client token is in the hands of an end user: what the gateway does not read may not come from there, unless the
 * environment says so (contract.md §3).
 */
export function refusePassThrough(
  caller: Caller,
  environment: Environment,
  server: Pick<ChatServer, 'findPassedOn'>,
  body: JsonObject,
): void {
  if (caller.kind !== 'client_token') return
  for (const name of SAID) refuseNamed(FILE_ID, body[name], name)
  // What an end user asks is never stored at a provider.
  refuseNamed(STORE, body.provider_options, 'provider_options')
  refuseNamed(STORE, body.extra_body, 'extra_body')
  if (environment.allowClientPassthrough) return
  const name = server.findPassedOn(body)
  if (name !== undefined) throw invalid(name, 'a client token may not send this here.')
}

const STORE = /^store$/i
const FILE_ID = /^file[_-]?ids?$/i

/** What a tool was called with, or gave, is text for the model: its words mean nothing to a provider. */
const OF_TOOLS: ReadonlySet<string> = new Set(['input', 'arguments', 'json', 'args', 'response'])

/**
 * What a provider keeps belongs to the whole environment, whatever setting lets fields pass: refuses a field of this name,
 * wherever it stands.
 */
function refuseNamed(pattern: RegExp, value: Json | undefined, path: string): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) refuseNamed(pattern, each, `${path}[${index}]`)
    return
  }
  for (const [name, each] of Object.entries(value)) {
    const at = `${path}.${name}`
    if (pattern.test(name) && each !== null && each !== false) {
      throw invalid(at, 'a client token may not reach what the provider keeps.')
    }
    if (!OF_TOOLS.has(name)) refuseNamed(pattern, each, at)
  }
}
