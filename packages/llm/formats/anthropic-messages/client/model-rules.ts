import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { lacksThinking } from '../../shared/reasoning/lacks-thinking.ts'
import type { Parameter } from '../../shared/requests/field-table.ts'
import { hasBlankStop } from '../../shared/requests/has-blank-stop.ts'
import { forcesTool } from './encode-tools.ts'
import type { ModelTraits } from './model-traits.ts'

const SAMPLING: readonly Parameter[] = ['temperature', 'topP']

/** Returns the parameters of a request that the model refuses or ignores, whatever their values. They are not sent. */
export function listRefused(request: ChatRequest, traits: ModelTraits): Parameter[] {
  const refused: Parameter[] = []
  const { temperature, topP, reasoningEffort } = request
  if (hasBlankStop(request)) refused.push('stop')
  if (traits.refusesForcedCalls && forcesTool(request)) refused.push('toolChoice')
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
  return !forcesTool(request) && (cap === undefined || cap > 1024) && !lacksThinking(request)
}

/**
 * The fields of a body in this format that only steer sampling and that the model refuses. With thinking it takes the
 * usual temperature and a high `top_p` alone.
 */
export function listRefusedFields(body: JsonObject, traits: ModelTraits): string[] {
  const { temperature, top_p: topP, top_k: topK, thinking } = body
  const isSet = (value: Json | undefined): boolean => value !== undefined && value !== null
  const kind = toObject(thinking)?.type
  const thinks = kind === 'enabled' || kind === 'adaptive'
  const refused: string[] = []
  if (isSet(temperature) && (!traits.hasSampling || (thinks && temperature !== 1)))
    refused.push('temperature')
  const isBoth = traits.samplesByOne && isSet(temperature) && isSet(topP)
  const isLow = thinks && !(typeof topP === 'number' && topP >= MIN_TOP_P)
  if (isSet(topP) && (!traits.hasSampling || isBoth || isLow)) refused.push('top_p')
  if (isSet(topK) && (!traits.hasSampling || thinks)) refused.push('top_k')
  return refused
}

/** The least `top_p` of a request that thinks. */
const MIN_TOP_P = 0.95
