import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Parameter } from '../../shared/field-table.ts'
import { forcesTool } from './encode-tools.ts'
import type { ModelTraits } from './model-traits.ts'

const SAMPLING: readonly Parameter[] = ['temperature', 'topP']

/** Returns the parameters of a request that the model refuses or ignores, whatever their values. They are not sent. */
export function listRefused(request: ChatRequest, traits: ModelTraits): Parameter[] {
  const refused: Parameter[] = []
  const { temperature, topP, stop, reasoningEffort } = request
  // The provider refuses a stop sequence of white space alone.
  if (stop?.some(each => each.trim() === '') === true) refused.push('stop')
  const thinks = willThink(request, traits)
  if (!traits.hasSampling || thinks) refused.push(...SAMPLING)
  else if (traits.samplesByOne && temperature !== undefined && topP !== undefined) {
    // The model takes only one of the two: the other, if it is the default of 1, or else `top_p` is left out.
    refused.push(temperature === 1 && topP !== 1 ? 'temperature' : 'topP')
  }
  if (reasoningEffort !== undefined && reasoningEffort !== 'none' && !thinks) refused.push('reasoningEffort')
  return refused
}

/** True if the request asks for thinking and the model can think for it. */
function willThink(request: ChatRequest, traits: ModelTraits): boolean {
  const { reasoningEffort: effort, maxOutputTokens: cap } = request
  if (effort === undefined || effort === 'none' || traits.thinking === 'none') return false
  if (traits.thinking === 'adaptive') return true
  return !forcesTool(request) && (cap === undefined || cap > 1024)
}
