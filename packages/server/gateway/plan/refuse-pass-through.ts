import { invalid } from '@rideau/llm/formats/shared/read-fields'
import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import type { Caller, Environment } from '../../core/tenancy.ts'

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
  const file = findStoredFile(body.messages, 'messages')
  if (file !== undefined) throw invalid(file, 'a client token may not reach what the provider keeps.')
  if (environment.allowClientPassthrough) return
  const name = server.findPassedOn(body)
  if (name !== undefined) throw invalid(name, 'a client token may not send this here.')
}

/**
 * A file that was uploaded to the provider belongs to the whole environment, whatever setting lets fields pass: the
 * path of the first that a message names, in any format's words.
 */
function findStoredFile(value: Json | undefined, path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const found = findStoredFile(each, `${path}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  for (const [name, each] of Object.entries(value)) {
    const at = `${path}.${name}`
    if ((name === 'file_id' || name === 'fileId') && each !== null) return at
    // What a tool was called with, or gave, is text for the model: its words mean nothing to a provider.
    if (name === 'input' || name === 'arguments' || name === 'json') continue
    const found = findStoredFile(each, at)
    if (found !== undefined) return found
  }
  return undefined
}
