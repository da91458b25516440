import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { showPath } from '@rideau/llm/formats/shared/field-path'
import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Caller, Environment } from '../../core/tenancy.ts'
import type { Refusal } from '../../core/verdict.ts'

/** Parts of what is said that the gateway does not read. */
const UNREAD = /^(?:input|contents|messages|system)\[/

/** May this target be asked for what only some can give? State and hosted tools are matters of more than the format. */
export function checkFindings(
  { findings }: ParsedChat,
  format: ClientFormat,
  source: SourceBody,
  environment: Environment,
  caller: Caller,
): Refusal | undefined {
  const [hosted] = findings.hosted
  if (hosted !== undefined && environment.unsupportedParams === 'refuse') {
    return toRefusal(
      hosted,
      'a tool that the provider runs has a price of its own, which the gateway does not know.',
    )
  }
  const isEndUser = caller.kind === 'client_token'
  const unread = findings.nativeOnly.find(path => UNREAD.test(path))
  if (isEndUser && unread !== undefined && !environment.allowClientPassthrough) {
    return toRefusal(unread, 'a client token may not send this here.')
  }
  const [uncounted] = findings.uncounted
  if (uncounted !== undefined && caller.maxRequestCostNanoUsd !== null) {
    return toRefusal(
      uncounted,
      'the input that it adds cannot be counted in advance, and this key bounds the cost of a request.',
    )
  }
  const [stateful] = findings.stateful
  if (stateful === undefined) return undefined
  // What a provider keeps belongs to the whole environment.
  if (isEndUser) return toRefusal(stateful, 'a client token may not reach what the provider keeps.')
  if (format.id !== source.format) {
    return toRefusal(
      stateful,
      'this model has nothing of what another provider keeps; send everything in the request.',
    )
  }
  if (caller.maxRequestCostNanoUsd !== null) {
    return toRefusal(
      stateful,
      'what the provider keeps cannot be counted, and this key bounds the cost of a request.',
    )
  }
  return undefined
}

/** Parameters that this target leaves out, by the path at which the caller wrote them. */
export function listDroppedParams(
  { findings }: ParsedChat,
  format: ClientFormat,
  source: SourceBody,
): readonly string[] {
  const { hosted, unread, nativeOnly } = findings
  return format.id === source.format ? [...hosted, ...unread] : [...hosted, ...unread, ...nativeOnly]
}

function toRefusal(path: string, message: string): Refusal {
  const param = showPath(path)
  return { code: 'invalid_request', message: `${param}: ${message}`, param }
}
