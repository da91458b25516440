import { invalid } from '@rideau/llm/formats/shared/read-fields'
import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import type { Caller, Environment } from '../../core/tenancy.ts'

/** The fields of each format that hold messages. */
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
  // An end user's request is never stored at a provider.
  refuseNamed(STORE, body.provider_options, 'provider_options')
  refuseNamed(STORE, body.extra_body, 'extra_body')
  if (environment.allowClientPassthrough) return
  const name = server.findPassedOn(body)
  if (name !== undefined) throw invalid(name, 'a client token may not send this here.')
}

const STORE = /^store$/i
const FILE_ID = /^file[_-]?ids?$/i

/** Arguments and results of tools are text for the model: their keys mean nothing to a provider. */
const OF_TOOLS: ReadonlySet<string> = new Set(['input', 'arguments', 'json', 'args', 'response'])

/**
 * Refuses a field of this name at any depth. The provider's store belongs to the whole environment, so that no setting
 * opens it to a client token.
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
