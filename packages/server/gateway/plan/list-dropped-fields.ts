import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Findings } from '@rideau/llm/formats/shared/findings'
import { isHint } from '@rideau/llm/formats/shared/hints'
import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { PlannedTarget } from './chat-plan.ts'
import type { GrantedTools } from './grant-hosted-tools.ts'
import type { Requester } from './requester.ts'

/** The name of a parameter that asks for one call at a time. */
const PARALLEL_TOOL_CALLS = 'parallel_tool_calls'

const STORE = 'store'

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
  { format, provider, model }: Pick<PlannedTarget, 'format' | 'provider' | 'model'>,
  source: SourceBody,
  unsupportedParams: readonly string[],
  isChoiceDropped: boolean,
): readonly string[] {
  const isMarkLost =
    findings.cacheMark !== undefined &&
    format.id !== source.format &&
    format.takesCacheMarks?.(provider, model, source) !== true
  const unreadFields = listUnreadFields(findings, format, source, isMarkLost)
  const unsentFields = isChoiceDropped ? [...unreadFields, 'tool_choice'] : unreadFields
  const unsupported =
    unsentFields.length === 0 ? unsupportedParams : [...new Set([...unsentFields, ...unsupportedParams])]
  return isOneCallEnsured(format, source, unsupportedParams)
    ? unsupported.filter(name => name !== PARALLEL_TOOL_CALLS)
    : unsupported
}

/** Returns the first field without which the answer would be another one; undefined if only hints are unsupported. */
export function findLost(unsupported: readonly string[], withholdsStore: boolean): string | undefined {
  return unsupported.find(name => !isHint(name) && !(withholdsStore && name === STORE))
}

/**
 * Returns all fields that are left out of the request to a target, as the caller is told: unsupported ones, and those that are
 * never refused.
 */
export function listDroppedFields(
  unsupported: readonly string[],
  { findings }: ParsedChat,
  format: ClientFormat,
  source: SourceBody,
  hosted: GrantedTools | undefined,
  withholdsStore: boolean,
): readonly string[] {
  const reasoning = listUnreadableReasoning(findings, format, source)
  const withReasoning = reasoning.length === 0 ? unsupported : [...reasoning, ...unsupported]
  const withTools =
    hosted === undefined || hosted.leftOut.length === 0
      ? withReasoning
      : [...hosted.leftOut, ...withReasoning]
  const isStoreLost = withholdsStore && asksToStore(source) && !withTools.includes(STORE)
  return isStoreLost ? [...withTools, STORE] : withTools
}

/** True if the provider must be told not to store the answer: requests of end users are never stored. */
export function isStoreWithheld({ findings }: ParsedChat, { caller }: Requester): boolean {
  return caller.kind === 'client_token' && findings.mayBeStored
}

/** Returns the fields that are left out of the request to a target, whether the caller is told or not. */
export function listUnsentFields({
  dropped,
  withholdsStore,
}: Pick<PlannedTarget, 'dropped' | 'withholdsStore'>): readonly string[] {
  return withholdsStore && !dropped.includes(STORE) ? [...dropped, STORE] : dropped
}

/** False for what an end user's request means anyway: nothing is lost. */
function asksToStore({ value: { store = false } }: SourceBody): boolean {
  return store !== false && store !== null
}

function listUnreadFields(
  { hosted, unread, nativeOnly, cacheMark }: Findings,
  format: ClientFormat,
  source: SourceBody,
  isMarkLost: boolean,
): readonly string[] {
  if (format.id === source.format) return [...hosted, ...unread]
  const mark = isMarkLost && cacheMark !== undefined ? [cacheMark] : []
  return [...hosted, ...unread, ...nativeOnly, ...mark]
}

/** References to reasoning that this target cannot follow: left out whatever the setting, since it could not read it. */
function listUnreadableReasoning(
  { storedReasoning }: Findings,
  format: ClientFormat,
  source: SourceBody,
): readonly string[] {
  return format.id === source.format ? [] : (storedReasoning ?? [])
}
