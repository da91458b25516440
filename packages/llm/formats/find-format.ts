import type { FormatRule, Provider } from '../provider/provider.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import type { ClientFormatId, FormatId } from '../request/format-id.ts'
import { COMPACT_ID } from './openai-compact/compact-id.ts'
import { matchesAny } from './shared/model-pattern.ts'

type Asked = Pick<ChatRequest, 'tools' | 'reasoningEffort' | 'flattensTools'>

/** The format in which a request goes to a provider's model: by the provider's rules, else its main one. */
export function findClientFormatId(
  provider: Provider,
  model: string,
  request: Asked,
  surface: FormatId,
): ClientFormatId {
  // Bare prompts have a route of their own at servers of OpenAI's format, and none elsewhere.
  if (surface === 'openai-completions' && provider.format === 'openai-chat') return surface
  if (surface === COMPACT_ID && provider.openai?.compacts === true) return surface
  for (const rule of provider.formatRules ?? []) {
    if (isMeant(rule, model) && isCalledFor(rule, request, surface)) return rule.format
  }
  return provider.format
}

function isMeant({ models }: FormatRule, model: string): boolean {
  return models === undefined || matchesAny(model, models)
}

function isCalledFor(
  { when, format }: FormatRule,
  { tools, reasoningEffort, flattensTools }: Asked,
  surface: FormatId,
): boolean {
  if (when === 'same-format') return format === surface
  if (when === 'same-format-flat') return format === surface && flattensTools !== true
  if (when === undefined) return true
  const reasons = reasoningEffort !== undefined && reasoningEffort !== 'none'
  return reasons && tools !== undefined && tools.length > 0
}
