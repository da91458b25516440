import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Parameter } from '../../shared/requests/field-table.ts'
import { asksToThink, canHonourEffort } from './encode-reasoning.ts'
import { canHonourChoice } from './encode-tools.ts'
import { toClaudeVersion, toModelFamily } from './model-family.ts'

const SAMPLING: readonly Parameter[] = ['temperature', 'topP']

/** Returns the parameters of a request that the model refuses or ignores, whatever their values. They are not sent. */
export function listRefused(request: ChatRequest, model: string): Parameter[] {
  const refused: Parameter[] = []
  if (!canHonourChoice(request, model)) refused.push('toolChoice')
  if (!canHonourEffort(request, model)) refused.push('reasoningEffort')
  if (toModelFamily(model) === 'claude') refused.push(...listRefusedSampling(request, model))
  return refused
}

/** See docs/providers.md, "Anthropic": some models refuse even the default of 1. */
function listRefusedSampling(request: ChatRequest, model: string): readonly Parameter[] {
  const version = toClaudeVersion(model)
  if (version >= 4.7 || (version > 0 && asksToThink(request, model))) return SAMPLING
  const { temperature, topP } = request
  const hasBoth = version >= 4.1 && temperature !== undefined && temperature !== 1 && topP !== undefined
  return SAMPLING.filter(name => request[name] === 1 || (name === 'topP' && hasBoth))
}
