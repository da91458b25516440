import type { AudioObjection } from '@rideau/llm/audio/audio-client'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { type AudioBounds, maxAudioCost } from '../billing/audio-amounts.ts'
import { SPEECH, TRANSCRIPTION } from './call-kinds.ts'
import { checkCost } from './check-cost.ts'
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
  const refusal = checkCost(target, maxAudioCost(input.maxAt(target), target), input)
  if (refusal !== undefined) return { refusal }
  return { ...target, decodeError: deps.formats.client(provider.format).decodeError }
}
