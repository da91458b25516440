import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Parameter } from '../../shared/field-table.ts'
import { forcesTool } from './encode-tools.ts'
import type { ModelTraits } from './model-traits.ts'

const SAMPLING: readonly Parameter[] = ['temperature', 'topP']

/** The parameters of a request that the model refuses, or that do nothing there. They are not sent. */
export function listRefused(request: ChatRequest, traits: ModelTraits): Parameter[] {
  const refused: Parameter[] = []
  const { temperature, topP, stop, reasoningEffort } = request
  // A stop sequence of white space alone is refused.
  if (stop?.some(each => each.trim() === '') === true) refused.push('stop')
  const thinks = willThink(request, traits)
  if (!traits.hasSampling || thinks) refused.push(...SAMPLING)
  else if (traits.samplesByOne && temperature !== undefined && topP !== undefined) {
    // One of the two is left out: one that has its default of 1, if there is one.
    refused.push(temperature === 1 && topP !== 1 ? 'temperature' : 'topP')
  }
  if (reasoningEffort !== undefined && reasoningEffort !== 'none' && !thinks) refused.push('reasoningEffort')
  return refused
}

/** Does the model think for this request, if it is asked to? */
function willThink(request: ChatRequest, traits: ModelTraits): boolean {
  const { reasoningEffort: effort, maxOutputTokens: cap } = request
  if (effort === undefined || effort === 'none' || traits.thinking === 'none') return false
  if (traits.thinking === 'adaptive') return true
  return !forcesTool(request) && (cap === undefined || cap > 1024)
}
