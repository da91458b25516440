import type { OpenAiDeviations, OpenAiModelRule } from '../../../provider/openai-deviations.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { matchesAny } from './model-pattern.ts'

/** The rules of one of the provider's models; undefined: it has none of its own. */
export function findModelRule(deviations: OpenAiDeviations, model: string): OpenAiModelRule | undefined {
  return deviations.models?.find(({ models }) => matchesAny(model, models))
}

/** Everything that the provider, or this model of it, cannot honour in such a request, by wire names. */
export function listUnsupported(
  deviations: OpenAiDeviations,
  model: string,
  { reasoningEffort }: Pick<ChatRequest, 'reasoningEffort'>,
): readonly string[] {
  const always = deviations.unsupported ?? []
  const rule = findModelRule(deviations, model)
  if (rule?.unsupported === undefined || !isReasoning(rule, reasoningEffort)) return always
  return [...always, ...rule.unsupported]
}

function isReasoning({ unsupportedWhile }: OpenAiModelRule, effort: string | undefined): boolean {
  if (unsupportedWhile === undefined) return true
  if (unsupportedWhile === 'asked') return effort !== undefined && effort !== 'none'
  return effort !== 'none'
}
