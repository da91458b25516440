import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { showPath } from '@rideau/llm/formats/shared/reading/field-path'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import { findRerankFormat } from '@rideau/llm/rerank/find-rerank-format'
import type { ParsedRerank } from '@rideau/llm/rerank/parse-request'
import type { RerankFormat } from '@rideau/llm/rerank/rerank-format'
import type { CountedRerank } from '@rideau/llm/rerank/rerank-pricing'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { maxRerankCost } from '../billing/rerank-amounts.ts'
import { RERANK } from './call-kinds.ts'
import { checkCost } from './check-cost.ts'
import { selectTargets } from './select-targets.ts'
import type { SelectionDeps } from './selection-deps.ts'
import type { ResolvedTarget, TargetSelection } from './target-selection.ts'
import { toUnsupportedRefusal } from './unsupported-param.ts'

/** A target of a rerank request. */
export interface RerankTarget extends ResolvedTarget {
  readonly format: RerankFormat
  /** A provider reports errors in the same format on all of its routes. */
  readonly decodeError: ClientFormat['decodeError']
  /** Parameters that were left out because the environment's `unsupported_params` is `drop`. */
  readonly dropped: readonly string[]
}

export interface RerankSelectionInput {
  readonly parsed: ParsedRerank
  readonly counted: CountedRerank
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: MeterSet
  readonly mount: Mount
}

/**
 * Selects the targets of a parsed rerank request, with the checks in the order of ARCHITECTURE.md, "One request". Throws the fault of the
 * check that refuses it.
 */
export function selectRerankTargets(
  input: RerankSelectionInput,
  deps: SelectionDeps,
): TargetSelection<RerankTarget> {
  const { parsed, caller, environment, limits, mount } = input
  const query = { name: parsed.request.model, caller, environment, limits, isStream: false, mount }
  return selectTargets<RerankTarget>(query, target => toVerdict(target, input, deps), deps)
}

function toVerdict(
  target: ResolvedTarget,
  input: RerankSelectionInput,
  deps: SelectionDeps,
): RerankTarget | { refusal: Refusal } {
  const { provider } = target
  const format = findRerankFormat(provider)
  if (format === undefined || !RERANK.canServe(target)) {
    const message = `The model ${target.id} does not support rerank.`
    return { refusal: { code: 'model_missing_capability', message, param: 'model' } }
  }
  const { request, unknownFields } = input.parsed
  const losesTruncation = request.maxTokensPerDocument !== undefined && format.cutsDocuments !== true
  const dropped = losesTruncation ? [...unknownFields, 'max_tokens_per_doc'] : unknownFields
  const [first] = dropped
  if (first !== undefined && input.environment.unsupportedParams === 'refuse') {
    return { refusal: toUnsupportedRefusal(showPath(first), `the provider ${provider.id}`) }
  }
  const refusal = checkCost(target, maxRerankCost(input.counted, target), input)
  if (refusal !== undefined) return { refusal }
  return { ...target, format, decodeError: deps.formats.client(provider.format).decodeError, dropped }
}
