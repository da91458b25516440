import type { AudioObjection } from '@rideau/llm/audio/audio-client'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { SET_A_PRICE } from '../../core/models/set-a-price.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { type AudioBounds, maxAudioCost } from '../billing/audio-amounts.ts'
import { SPEECH, TRANSCRIPTION } from './call-kinds.ts'
import { checkPriced } from './check-priced.ts'
import { selectTargets } from './select-targets.ts'
import type { SelectionDeps } from './selection-deps.ts'
import type { ResolvedTarget, TargetSelection } from './target-selection.ts'

/** A target of an audio request. */
export interface AudioTarget extends ResolvedTarget {
  /** A provider reports errors in the same format on all of its routes. */
  readonly decodeError: ClientFormat['decodeError']
}

export interface AudioSelectionInput {
  /** As the caller named the model. */
  readonly model: string
  readonly capability: 'transcription' | 'speech'
  /** The most that the request may use at a target. */
  readonly maxAt: (target: ResolvedTarget) => AudioBounds
  readonly findObjection: (target: ResolvedTarget) => AudioObjection | undefined
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: MeterSet
  readonly mount: Mount
}

/**
 * Selects the targets of a parsed audio request, with the checks in the order of ARCHITECTURE.md, "One request". Throws the fault of the check
 * that refuses it.
 */
export function selectAudioTargets(
  input: AudioSelectionInput,
  deps: SelectionDeps,
): TargetSelection<AudioTarget> {
  const { model, caller, environment, limits, mount } = input
  return selectTargets<AudioTarget>(
    { name: model, caller, environment, limits, isStream: false, mount },
    target => toVerdict(target, input, deps),
    deps,
  )
}

function toVerdict(
  target: ResolvedTarget,
  input: AudioSelectionInput,
  deps: SelectionDeps,
): AudioTarget | { refusal: Refusal } {
  const { provider } = target
  const { capability, findObjection } = input
  if (!(capability === 'speech' ? SPEECH : TRANSCRIPTION).canServe(target)) {
    const message = `The model ${target.id} does not support ${capability}.`
    return { refusal: { code: 'model_missing_capability', message, param: 'model' } }
  }
  const objection = findObjection(target)
  if (objection !== undefined) return { refusal: { code: 'invalid_request', ...objection } }
  const refusal = checkCost(target, input)
  if (refusal !== undefined) return { refusal }
  return { ...target, decodeError: deps.formats.client(provider.format).decodeError }
}

/**
 * Checks limits of money and the key's `max_request_cost_usd`. Nothing about an audio request can be
 * lowered.
 */
function checkCost(
  target: ResolvedTarget,
  { maxAt, caller, limits }: AudioSelectionInput,
): Refusal | undefined {
  const cost = maxAudioCost(maxAt(target), target)
  const limited = checkPriced(target, limits, cost !== null)
  const { maxRequestCostNanoUsd } = caller
  if (limited !== undefined || maxRequestCostNanoUsd === null) return limited
  if (cost === null) {
    return {
      code: 'model_unpriced',
      message: `The key has a max_request_cost_usd, and the price of the model ${target.id} is unknown. ${SET_A_PRICE}`,
      param: 'model',
    }
  }
  if (cost <= maxRequestCostNanoUsd) return undefined
  return {
    code: 'budget_exceeded',
    message: 'This request could cost more than the max_request_cost_usd of the key.',
    param: 'restrictions.max_request_cost_usd',
  }
}
