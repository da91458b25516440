import type { Json } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { isHarmless } from '../../shared/harmless-params.ts'
import { isLostExtra } from '../../shared/lost-params.ts'
import { findUnknownParts } from './encode-parts.ts'
import { forcesTool } from './encode-tools.ts'
import { findModelTraits, type ModelTraits } from './model-traits.ts'

/** Fields of this format that a caller of OpenAI's may send beside its own: they go out as they are. */
export const PASSED_ON: readonly string[] = ['top_k', 'cache_control', 'thinking']

/** See ClientFormat. A body of this same format is the provider's to judge. */
export function findUnsupportedParams(
  request: ChatRequest,
  _provider: Provider,
  model: string,
  source?: SourceBody,
): readonly string[] {
  if (source?.format === 'anthropic-messages') return []
  const traits = findModelTraits(model)
  const names = findCanonical(request, traits)
  for (const { content } of request.messages) names.push(...findUnknownParts(content))
  if (request.extra !== undefined) names.push(...findForeign(request.extra, traits))
  return [...new Set(names)]
}

function findCanonical(request: ChatRequest, traits: ModelTraits): string[] {
  const { temperature, topP, seed, presencePenalty, frequencyPenalty, stop, reasoningEffort } = request
  const names: string[] = []
  if (seed !== undefined) names.push('seed')
  if (!isHarmless('presence_penalty', presencePenalty)) names.push('presence_penalty')
  if (!isHarmless('frequency_penalty', frequencyPenalty)) names.push('frequency_penalty')
  // White space alone cannot end an answer there.
  if (stop?.some(each => each.trim() === '') === true) names.push('stop')
  const thinks = willThink(request, traits)
  const isFixed = !traits.hasSampling || thinks
  // 1 is what is done without it.
  if (temperature !== undefined && temperature !== 1 && isFixed) names.push('temperature')
  if (topP !== undefined && topP !== 1) {
    const isDouble = traits.samplesByOne && temperature !== undefined && temperature !== 1
    if (isFixed || isDouble) names.push('top_p')
  }
  if (reasoningEffort !== undefined && reasoningEffort !== 'none' && !thinks) names.push('reasoning_effort')
  return names
}

/** Does the model think for this request, if it is asked to? */
export function willThink(request: ChatRequest, traits: ModelTraits): boolean {
  const { reasoningEffort: effort, maxOutputTokens: cap } = request
  if (effort === undefined || effort === 'none' || traits.thinking === 'none') return false
  if (traits.thinking === 'adaptive') return true
  return !forcesTool(request) && (cap === undefined || cap > 1024)
}

/** What only an OpenAI body can ask for; a field that nobody here knows is named too, rather than lost. */
function findForeign(extra: ReadonlyMap<string, Json>, traits: ModelTraits): string[] {
  const names: string[] = []
  for (const [name, value] of extra) {
    if (PASSED_ON.includes(name) && (name !== 'top_k' || traits.hasSampling)) continue
    if (isLostExtra(name, value)) names.push(name)
  }
  return names
}
