import type { DialectRule, Provider } from '../provider/provider.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import type { DialectId, SurfaceId } from '../request/format-id.ts'
import { matchesAny } from './shared/model-pattern.ts'

/** The format in which a request goes to a provider's model: by the provider's rules, else its main one. */
export function findDialectId(
  provider: Provider,
  model: string,
  request: Pick<ChatRequest, 'tools' | 'reasoningEffort'>,
  surface: SurfaceId,
): DialectId {
  for (const rule of provider.dialectRules ?? []) {
    if (isMeant(rule, model) && isCalledFor(rule, request, surface)) return rule.dialect
  }
  return provider.dialect
}

function isMeant({ models }: DialectRule, model: string): boolean {
  return models === undefined || matchesAny(model, models)
}

function isCalledFor(
  { when, dialect }: DialectRule,
  { tools, reasoningEffort }: Pick<ChatRequest, 'tools' | 'reasoningEffort'>,
  surface: SurfaceId,
): boolean {
  if (when === 'same-format') return dialect === surface
  if (when === undefined) return true
  return tools !== undefined && tools.length > 0 && reasoningEffort !== undefined
}
