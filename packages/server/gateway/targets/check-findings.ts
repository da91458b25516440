import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { showPath } from '@rideau/llm/formats/shared/reading/field-path'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Refusal } from '../../core/refusal.ts'
import { findUnmeasured } from './find-unmeasured.ts'
import { findRefusedTool } from './grant-hosted-tools.ts'
import type { Requester } from './requester.ts'

/** Paths within messages, where the gateway does not read unknown parts. */
const UNREAD = /^(?:input|contents|messages|system)\[/

const STORED_UNCOUNTED =
  'input stored at the provider cannot be counted, and this key has a max_request_cost_usd.'
const NO_PASS_THROUGH =
  'is not accepted from a client token; the environment does not set allow_client_passthrough.'
const UNCOUNTED = 'adds input that cannot be counted in advance, and this key has a max_request_cost_usd.'

/**
 * Refuses hosted tools, provider-side state and unread input that this target, caller or environment does not allow.
 */
export function checkFindings(
  parsed: ParsedChat,
  format: ClientFormat,
  source: SourceBody,
  requester: Requester,
): Refusal | undefined {
  const { findings } = parsed
  const { caller, environment } = requester
  const [connector] = findings.connectors
  if (connector !== undefined) {
    return toRefusal(
      connector,
      'a tool that reaches another address or what the account stores is not offered.',
    )
  }
  const [hosted] = findings.hosted
  if (hosted !== undefined && environment.unsupportedParams === 'refuse') {
    return toRefusal(hosted, 'the gateway does not know the price of this tool, which the provider runs.')
  }
  const refused = findRefusedTool(findings, requester)
  if (refused !== undefined && environment.unsupportedParams === 'refuse') {
    return toRefusal(refused.path, NO_PASS_THROUGH)
  }
  const isEndUser = caller.kind === 'client_token'
  if (isEndUser && !environment.allowClientPassthrough) {
    const unread = findings.nativeOnly.find(path => UNREAD.test(path))
    if (unread !== undefined) return toRefusal(unread, NO_PASS_THROUGH)
  }
  const isBounded = caller.maxRequestCostNanoUsd !== null
  const [uncounted] = findings.uncounted
  if (uncounted !== undefined && isBounded) return toRefusal(uncounted, UNCOUNTED)
  const isKept = isEndUser || format.id === source.format
  const storedState = findings.storedStatePaths[0] ?? (isKept ? findings.storedReasoning?.[0] : undefined)
  if (storedState === undefined) {
    const byId = isBounded && format.id === source.format ? findings.itemsById?.[0] : undefined
    if (byId !== undefined) return toRefusal(byId, STORED_UNCOUNTED)
    const unmeasured = isBounded ? findUnmeasured(parsed) : undefined
    return unmeasured === undefined ? undefined : toRefusal(unmeasured, UNCOUNTED)
  }
  // Data stored at the provider belongs to the whole environment.
  if (isEndUser)
    return toRefusal(
      storedState,
      'is not accepted from a client token, since it accesses data stored at the provider.',
    )
  if (format.id !== source.format) {
    return toRefusal(
      storedState,
      'this model cannot access data stored at another provider; send all input in the request, with `store: false`.',
    )
  }
  if (isBounded) {
    return toRefusal(storedState, STORED_UNCOUNTED)
  }
  return undefined
}

function toRefusal(path: string, message: string): Refusal {
  const param = showPath(path)
  return { code: 'invalid_request', message: `${param}: ${message}`, param }
}
