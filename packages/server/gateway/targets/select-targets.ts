import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import { findProvider } from '@rideau/llm/providers/index'
import { modelDirectory } from '@rideau/llm/providers/model-directory'
import type { Message } from '@rideau/llm/request/message'
import { Fault } from '../../core/fault.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { affinityOf } from '../../core/models/affinity.ts'
import { orderTargets } from '../../core/models/order-targets.ts'
import { type ResolvedModel, resolveName } from '../../core/models/resolve-model.ts'
import { randomShare } from '../../core/random-share.ts'
import { type Refusal, toRefusalFault } from '../../core/refusal.ts'
import type { Alias, AliasTarget, Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { findEnvironmentModel } from '../tenants/find-environment-model.ts'
import type { SelectionDeps } from './selection-deps.ts'
import { latencyKey, type ResolvedTarget, type TargetSelection } from './target-selection.ts'

/** How many targets a message names. */
const SHOWN_TARGETS = 8

/** The model name of a request, and who asks for it. */
export interface ModelQuery {
  readonly name: string
  readonly caller: Caller
  readonly environment: Environment
  /** The meters of the request, whose plan may allow some models only. */
  readonly limits: Pick<MeterSet, 'plan'>
  readonly isStream: boolean
  readonly mount: Mount
  /** Of a chat, whose conversation stays with its target. Absent: each request is on its own. */
  readonly conversation?: Conversation
}

export interface Conversation {
  readonly endUserId: string | undefined
  readonly messages: readonly Message[]
}

/**
 * Resolves a model's name to the targets that can serve a request, in the order of attempts. `toVerdict` returns what is
 * sent to a target, or why the target cannot serve the request. Throws the fault that refuses the request.
 */
export function selectTargets<T extends ResolvedTarget>(
  query: ModelQuery,
  toVerdict: (target: ResolvedTarget) => T | { readonly refusal: Refusal },
  deps: SelectionDeps,
): TargetSelection<T> {
  const { name, caller, environment, limits, isStream, mount } = query
  const resolution = resolveName(
    name,
    { key: caller.allowedModels, plan: limits.plan?.allowedModels ?? null },
    environment,
    modelDirectory,
    modelDirectory.ownersOf(mount.name),
  )
  if ('refusal' in resolution) throw toRefusalFault(resolution.refusal)
  if ('resolved' in resolution) {
    const target = toVerdict(toTarget(resolution.resolved, undefined, environment))
    if ('refusal' in target) throw toRefusalFault(target.refusal)
    return { targets: [target], alias: undefined, isStream }
  }
  const { alias } = resolution
  const verdicts = resolution.targets.map(({ target, resolution: targetResolution }) =>
    'refusal' in targetResolution
      ? targetResolution
      : toVerdict(toTarget(targetResolution.resolved, target, environment)),
  )
  const usable = verdicts.filter((verdict): verdict is T => !('refusal' in verdict))
  if (usable.length === 0) throw noEligibleTarget(alias, verdicts, caller)
  return { targets: orderAlias(alias, usable, query, deps), alias, isStream }
}

function toTarget(
  { provider: providerId, model, id, credentials }: ResolvedModel,
  alias: AliasTarget | undefined,
  environment: Environment,
): ResolvedTarget {
  const provider = findProvider(providerId)
  if (provider === undefined) throw new Error(`a name was resolved to an unknown provider: ${providerId}`)
  const catalogModel = findEnvironmentModel(environment, provider.id, model)
  return { provider, model, id, catalogModel, credentials, alias }
}

function orderAlias<T extends ResolvedTarget>(
  alias: Alias,
  usable: readonly T[],
  { environment, isStream, conversation }: ModelQuery,
  deps: SelectionDeps,
): readonly T[] {
  const isTimed = alias.strategy === 'lowest_latency'
  const entries = usable.map(target => ({
    target,
    id: target.id,
    weight: target.alias?.weight ?? 1,
    pricing: target.catalogModel?.pricing ?? null,
    latencyMs: isTimed
      ? deps.latencies.readOrClaim(latencyKey(environment.id, target.id, isStream))
      : undefined,
  }))
  const affinity = alias.strategy === 'weighted' ? affinityOfAnswered(conversation) : undefined
  return orderTargets(alias.strategy, entries, randomShare(deps.random), affinity).map(({ target }) => target)
}

/** Before its first answer a conversation has nothing that another target lacks, and is drawn by weight like any request. */
function affinityOfAnswered(conversation: Conversation | undefined): number | undefined {
  if (conversation === undefined || !conversation.messages.some(({ role }) => role === 'assistant'))
    return undefined
  return affinityOf(conversation.endUserId, conversation.messages)
}

/**
 * An exceeded budget or an unknown price is reported as such, and so is one field for which every target refuses the request.
 * All other reasons are reported as `no_eligible_target`.
 */
function noEligibleTarget(alias: Alias, verdicts: readonly object[], caller: Caller): Fault {
  // All of them are refused, in the order of the alias's targets.
  const refusals = verdicts.map(verdict => (verdict as { readonly refusal: Refusal }).refusal)
  for (const refusal of refusals) {
    if (refusal.code === 'budget_exceeded' || refusal.code === 'model_unpriced')
      return toRefusalFault(refusal)
  }
  const [first] = refusals
  const isSame = refusals.every(({ code, param }) => code === 'invalid_request' && param === first?.param)
  if (first !== undefined && isSame) return toRefusalFault(first)
  const shown = refusals.slice(0, SHOWN_TARGETS).map((refusal, index) =>
    // The models behind an alias, and what the owner has configured, are not for end users.
    caller.kind === 'client_token'
      ? `target ${index + 1}: ${refusal.code}`
      : `${alias.targets[index]?.model}: ${refusal.code}, ${refusal.message}`,
  )
  const more = refusals.length > SHOWN_TARGETS ? ` And ${refusals.length - SHOWN_TARGETS} more.` : ''
  return new Fault(
    'no_eligible_target',
    `No target of the alias "${alias.name}" can serve this request in this environment. ${shown.join(' ')}${more}`,
    { param: 'model' },
  )
}
