import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { showPath } from '@rideau/llm/formats/shared/field-path'
import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Caller, Environment } from '../../core/tenancy.ts'
import type { Refusal } from '../../core/verdict.ts'

/** Paths within messages, where the gateway does not read unknown parts. */
const UNREAD = /^(?:input|contents|messages|system)\[/

/**
 * Refuses hosted tools, provider-side state and unread input that this target, caller or environment does not allow.
 */
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
  // Data stored at the provider belongs to the whole environment.
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

/** Returns the paths of parameters that are not sent to this target, as the caller wrote them. */
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
