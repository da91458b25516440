import type { EmbeddingFormat, EmbeddingRequest } from '@rideau/llm/embeddings/embedding-format'
import { findEmbeddingFormat, takesTokens } from '@rideau/llm/embeddings/find-embedding-format'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { showPath } from '@rideau/llm/formats/shared/reading/field-path'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { EMBEDDINGS } from './call-kinds.ts'
import { toReservedAmounts } from './chat-amounts.ts'
import { checkCost } from './check-cost.ts'
import { selectTargets } from './select-targets.ts'
import type { SelectionDeps } from './selection-deps.ts'
import type { ResolvedTarget, TargetSelection } from './target-selection.ts'
import { toUnsupportedRefusal } from './unsupported-param.ts'

/** A target of an embeddings request. */
export interface EmbeddingTarget extends ResolvedTarget {
  readonly format: EmbeddingFormat
  /** A provider reports errors in the same format on all of its routes. */
  readonly decodeError: ClientFormat['decodeError']
  /** Parameters that were left out because the environment's `unsupported_params` is `drop`. */
  readonly dropped: readonly string[]
}

export interface EmbeddingSelectionInput {
  readonly request: EmbeddingRequest
  /** Fields that no target gets. */
  readonly unknownFields: readonly string[]
  /** Estimated by the gateway. The provider's own count is billed. */
  readonly inputTokens: number
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: MeterSet
  readonly mount: Mount
}

/**
 * Selects the targets of a parsed embeddings request, with the checks in the order of ARCHITECTURE.md, "One request". Throws
 * the fault of the check that refuses it.
 */
export function selectEmbeddingTargets(
  input: EmbeddingSelectionInput,
  deps: SelectionDeps,
): TargetSelection<EmbeddingTarget> {
  const { request, caller, environment, limits, mount } = input
  const query = { name: request.model, caller, environment, limits, isStream: false, mount }
  return selectTargets<EmbeddingTarget>(query, target => toVerdict(target, input, deps), deps)
}

function toVerdict(
  target: ResolvedTarget,
  input: EmbeddingSelectionInput,
  deps: SelectionDeps,
): EmbeddingTarget | { refusal: Refusal } {
  const { provider } = target
  const format = findEmbeddingFormat(provider)
  if (format === undefined || !EMBEDDINGS.canServe(target)) {
    return toRefusal(
      'embeddings_not_supported',
      `The model ${target.id} does not support embeddings.`,
      'model',
    )
  }
  const hasTokens = typeof input.request.input[0] !== 'string'
  if (hasTokens && !takesTokens(provider, format)) {
    return toRefusal(
      'invalid_request',
      `input: must be text; the provider ${provider.id} does not accept tokens.`,
      'input',
    )
  }
  const dropped = listUnsupported(input, format)
  const [first] = dropped
  if (first !== undefined && input.environment.unsupportedParams === 'refuse') {
    return { refusal: toUnsupportedRefusal(showPath(first), `the provider ${provider.id}`) }
  }
  const refusal = checkCost(target, maxCost(target, input.inputTokens), input)
  if (refusal !== undefined) return { refusal }
  return { ...target, format, decodeError: deps.formats.client(provider.format).decodeError, dropped }
}

const NONE: readonly string[] = []

/** What the caller asks for and the target cannot give: its loss would change the vectors. */
function listUnsupported(
  { request, unknownFields }: EmbeddingSelectionInput,
  format: EmbeddingFormat,
): readonly string[] {
  const loses = [
    ...(request.title !== undefined && format.takesTitle !== true ? ['title'] : NONE),
    ...(request.truncate === 'start' && format.cutsStart !== true ? ['truncate'] : NONE),
  ]
  return unknownFields.length === 0 && loses.length === 0 ? NONE : [...unknownFields, ...loses]
}

/** Returns the most that the input may cost, in nano-dollars; null: the model has no price. */
function maxCost(target: ResolvedTarget, inputTokens: number): number | null {
  if ((target.catalogModel?.pricing ?? null) === null) return null
  const tokens = { input: inputTokens, audioInput: 0, output: 0, mayWriteCache: false }
  return toReservedAmounts([target], tokens).nanoUsd
}

function toRefusal(code: Refusal['code'], message: string, param: string): { refusal: Refusal } {
  return { refusal: { code, message, param } }
}
