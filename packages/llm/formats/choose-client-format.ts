import type { FormatRule, Provider } from '../provider/provider.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import type { ClientFormatId, FormatId } from '../request/format-id.ts'
import { COMPACT_ID } from './openai-compact/compact-id.ts'
import { matchesAny } from './shared/reading/model-pattern.ts'

type FormatRequest = Pick<ChatRequest, 'tools' | 'reasoningEffort' | 'flattensTools'>

/** The format in which a request goes to a provider's model: by the provider's rules, else its main one. */
export function chooseClientFormatId(
  provider: Provider,
  model: string,
  request: FormatRequest,
  callerFormat: FormatId,
): ClientFormatId {
  // Bare prompts have a route of their own at servers of OpenAI's format, and none elsewhere.
  if (callerFormat === 'openai-completions' && provider.format === 'openai-chat') return callerFormat
  if (callerFormat === COMPACT_ID && provider.openai?.compacts === true) return callerFormat
  for (const rule of provider.formatRules ?? []) {
    if (matchesModel(rule, model) && appliesTo(rule, request, callerFormat)) return rule.format
  }
  return provider.format
}

function matchesModel({ models }: FormatRule, model: string): boolean {
  return models === undefined || matchesAny(model, models)
}

function appliesTo(
  { when, format }: FormatRule,
  { tools, reasoningEffort, flattensTools }: FormatRequest,
  callerFormat: FormatId,
): boolean {
  if (when === 'same-format') return format === callerFormat
  if (when === 'same-format-flat') return format === callerFormat && flattensTools !== true
  if (when === undefined) return true
  if (tools === undefined || tools.length === 0) return false
  if (when === 'tools') return true
  if (reasoningEffort === 'none') return false
  return when === 'tools-unless-none' || reasoningEffort !== undefined
}
