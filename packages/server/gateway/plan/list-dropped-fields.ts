import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Findings } from '@rideau/llm/formats/shared/findings'
import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { GrantedTools } from './grant-hosted-tools.ts'
import type { Requester } from './requester.ts'

/** The name of a parameter that asks for one call at a time. */
const PARALLEL_TOOL_CALLS = 'parallel_tool_calls'

/** Whether the gateway itself must ensure one call at a time, because the target has no field for it. */
export function isOneCallEnsured(
  format: ClientFormat,
  source: SourceBody,
  unsupportedParams: readonly string[],
): boolean {
  return format.id !== source.format && unsupportedParams.includes(PARALLEL_TOOL_CALLS)
}

/**
 * Returns the fields that the target does not support, as the caller wrote them. `unsupportedParams` are those that its
 * format found.
 */
export function listUnsupportedFields(
  { findings }: ParsedChat,
  format: ClientFormat,
  source: SourceBody,
  unsupportedParams: readonly string[],
  isChoiceDropped: boolean,
): readonly string[] {
  const unreadFields = listUnreadFields(findings, format, source)
  const unsentFields = isChoiceDropped ? [...unreadFields, 'tool_choice'] : unreadFields
  const unsupported =
    unsentFields.length === 0 ? unsupportedParams : [...new Set([...unsentFields, ...unsupportedParams])]
  return isOneCallEnsured(format, source, unsupportedParams)
    ? unsupported.filter(name => name !== PARALLEL_TOOL_CALLS)
    : unsupported
}

/** Returns all fields that are left out of the request to a target: unsupported ones, and those that are never refused. */
export function listDroppedFields(
  unsupported: readonly string[],
  { findings }: ParsedChat,
  format: ClientFormat,
  source: SourceBody,
  hosted: GrantedTools | undefined,
  { caller }: Requester,
): readonly string[] {
  const reasoning = listUnreadableReasoning(findings, format, source)
  const withReasoning = reasoning.length === 0 ? unsupported : [...reasoning, ...unsupported]
  const withTools =
    hosted === undefined || hosted.leftOut.length === 0
      ? withReasoning
      : [...hosted.leftOut, ...withReasoning]
  // Requests of end users are never stored at a provider. An absent `store` means that.
  const isStoreWithheld = caller.kind === 'client_token' && findings.mayBeStored
  return isStoreWithheld ? [...withTools, 'store'] : withTools
}

function listUnreadFields(
  { hosted, unread, nativeOnly }: Findings,
  format: ClientFormat,
  source: SourceBody,
): readonly string[] {
  return format.id === source.format ? [...hosted, ...unread] : [...hosted, ...unread, ...nativeOnly]
}

/** References to reasoning that this target cannot follow: left out whatever the setting, since it could not read it. */
function listUnreadableReasoning(
  { storedReasoning }: Findings,
  format: ClientFormat,
  source: SourceBody,
): readonly string[] {
  return format.id === source.format ? [] : (storedReasoning ?? [])
}
