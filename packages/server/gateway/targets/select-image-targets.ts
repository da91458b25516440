import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import { isHint } from '@rideau/llm/formats/shared/requests/hints'
import { findImageFormat } from '@rideau/llm/images/find-image-format'
import type { ImageFormat, ImageRequest } from '@rideau/llm/images/image-format'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { maxImageAmounts } from '../billing/image-amounts.ts'
import { IMAGES } from './call-kinds.ts'
import { checkCost } from './check-cost.ts'
import { selectTargets } from './select-targets.ts'
import type { SelectionDeps } from './selection-deps.ts'
import type { ResolvedTarget, TargetSelection } from './target-selection.ts'
import { toUnsupportedRefusal } from './unsupported-param.ts'

/** A target of an image request. */
export interface ImageTarget extends ResolvedTarget {
  readonly format: ImageFormat
  /** A provider reports errors in the same format on all of its routes. */
  readonly decodeError: ClientFormat['decodeError']
  /** Wire names of parameters that the target does not support and that are not sent. */
  readonly dropped: readonly string[]
}

export interface ImageSelectionInput {
  readonly request: ImageRequest
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: MeterSet
  readonly mount: Mount
}

/**
 * Selects the targets of a parsed image request, with the checks in the order of ARCHITECTURE.md, "One request". Throws the
 * fault of the check that refuses it.
 */
export function selectImageTargets(
  input: ImageSelectionInput,
  deps: SelectionDeps,
): TargetSelection<ImageTarget> {
  const { request, caller, environment, limits, mount } = input
  const query = { name: request.model, caller, environment, limits, isStream: false, mount }
  return selectTargets<ImageTarget>(query, target => toVerdict(target, input, deps), deps)
}

function toVerdict(
  target: ResolvedTarget,
  input: ImageSelectionInput,
  deps: SelectionDeps,
): ImageTarget | { refusal: Refusal } {
  const { provider } = target
  const { request, environment } = input
  const format = findImageFormat(provider)
  if (format === undefined || !IMAGES.canServe(target)) {
    return toRefusal('model_missing_capability', `The model ${target.id} does not support images.`, 'model')
  }
  if (request.images !== undefined && !format.canEdit(target)) {
    return toRefusal(
      'model_missing_capability',
      `The model ${target.id} does not support image edits.`,
      'model',
    )
  }
  const isForeign = request.google !== undefined && provider.images?.format !== 'google-images'
  const dropped = isForeign ? (request.google?.only ?? []) : format.listUnsupportedParams(request, target)
  // Clients of Gemini's format send what steers sampling by default: it is left out and named, whatever the setting.
  const first = isForeign ? dropped.find(name => !isHint(name)) : dropped[0]
  if (first !== undefined && environment.unsupportedParams === 'refuse') {
    return { refusal: toUnsupportedRefusal(first, `the model ${target.id}`) }
  }
  const { nanoUsd } = maxImageAmounts(input.request, { ...target, format })
  const refusal = checkCost(target, nanoUsd, input)
  if (refusal !== undefined) return { refusal }
  return { ...target, format, decodeError: deps.formats.client(provider.format).decodeError, dropped }
}

function toRefusal(code: Refusal['code'], message: string, param: string): { refusal: Refusal } {
  return { refusal: { code, message, param } }
}
