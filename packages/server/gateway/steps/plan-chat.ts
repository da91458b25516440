import { findDialectId } from '@rideau/llm/find-dialect'
import { modelDirectory } from '@rideau/llm/model-directory'
import { findProvider } from '@rideau/llm/providers/index'
import type { ChatRequest, Provider, SourceBody } from '@rideau/llm/spec'
import { type CapabilityNeed, refuseCapability } from '../../core/capabilities.ts'
import { Fault } from '../../core/fault.ts'
import type { MeterSet } from '../../core/meters.ts'
import { orderTargets } from '../../core/order-targets.ts'
import { type ResolvedModel, resolveName } from '../../core/resolve-model.ts'
import type { Alias, AliasTarget, Caller, Environment } from '../../core/tenancy.ts'
import type { Refusal } from '../../core/verdict.ts'
import { type ChatPlan, latencyKey, type PlannedTarget, type TargetPlan } from '../chat-plan.ts'
import { CLIENT_DIALECTS } from '../clients.ts'
import type { GatewayDeps } from '../deps.ts'
import { findModelHere } from '../find-model-here.ts'
import { hasImages } from '../surfaces/chat-fields.ts'
import type { ChatCall } from '../surfaces/native-chat.ts'
import { chance } from './chance.ts'
import { fitRequest } from './fit-request.ts'
import { holdToBound } from './hold-to-bound.ts'
import { holdToLimits } from './hold-to-limits.ts'
import type { JsonBody } from './read-json.ts'
import { listLost, refuseFindings } from './refuse-findings.ts'

/** From the parsed body to a plan, by the order of checks in contract.md §3. */
export function planChat(
  call: ChatCall,
  body: JsonBody,
  caller: Caller,
  environment: Environment,
  limits: MeterSet,
  deps: GatewayDeps,
): ChatPlan {
  const resolution = resolveName(call.request.model, caller, environment, modelDirectory)
  if ('refusal' in resolution) throw toFault(resolution.refusal)
  const planOne = (resolved: ResolvedModel, alias: AliasTarget | undefined): TargetPlan => {
    const target = planTarget(resolved, alias, call, body.source, environment, caller)
    return holdToBound(holdToLimits(target, call.request.model, limits), caller, body.value.n)
  }
  if ('resolved' in resolution) {
    const target = planOne(resolution.resolved, undefined)
    if ('refusal' in target) throw toFault(target.refusal)
    return { call, source: body.source, targets: [target], alias: undefined }
  }
  const { alias } = resolution
  const plans = resolution.targets.map(({ target, resolution: each }) =>
    'refusal' in each ? each : planOne(each.resolved, target),
  )
  const usable = plans.filter((plan): plan is PlannedTarget => !('refusal' in plan))
  if (usable.length === 0) throw noTarget(alias, plans)
  return { call, source: body.source, targets: orderAlias(alias, usable, call, environment, deps), alias }
}

function planTarget(
  resolved: ResolvedModel,
  alias: AliasTarget | undefined,
  call: ChatCall,
  source: SourceBody,
  environment: Environment,
  caller: Caller,
): TargetPlan {
  const provider = findProvider(resolved.provider)
  if (provider === undefined) throw new Error(`resolved to a provider that is none: ${resolved.provider}`)
  const catalogModel = findModelHere(environment, provider.id, resolved.model)
  const request = fitRequest(call.request, source, provider, catalogModel)
  const lack = catalogModel === undefined ? undefined : refuseCapability(listNeeds(request), catalogModel)
  if (lack !== undefined) return { refusal: lack }
  // What the target cannot honour is refused by name, or dropped where the environment says so.
  const dialect = CLIENT_DIALECTS[findDialectId(provider, resolved.model, request, source.surface)]
  const refusal = refuseFindings(call, dialect, source, environment, caller)
  if (refusal !== undefined) return { refusal }
  const dropped = [
    ...listLost(call, dialect, source),
    ...dialect.findUnsupportedParams(request, provider, resolved.model, source),
  ]
  const [first] = dropped
  if (first !== undefined && environment.unsupportedParams === 'refuse') {
    return { refusal: unsupported(first, provider) }
  }
  const { model, id, credentials } = resolved
  // What an end user asks is never stored at a provider: absent means off.
  const withheld = caller.kind === 'client_token' && mayStore(source) ? [...dropped, 'store'] : dropped
  return { provider, dialect, model, id, catalogModel, credentials, request, dropped: withheld, alias }
}

/** Responses are stored unless the request says otherwise. */
function mayStore({ surface, fields }: SourceBody): boolean {
  return surface === 'openai-responses' || fields.has('store')
}

const CHAT: CapabilityNeed = { capability: 'chat', param: 'model' }
const TOOLS: CapabilityNeed = { capability: 'tools', param: 'tools' }
const FORMAT: CapabilityNeed = { capability: 'response_format', param: 'response_format' }
const VISION: CapabilityNeed = { capability: 'vision', param: 'messages' }
const TEXT_ONLY = [CHAT]

function listNeeds(request: ChatRequest): readonly CapabilityNeed[] {
  const hasTools = request.tools !== undefined && request.tools.length > 0
  const hasFormat = request.responseFormat !== undefined && request.responseFormat.type !== 'text'
  const seesImages = hasImages(request.messages)
  if (!hasTools && !hasFormat && !seesImages) return TEXT_ONLY
  const needs = [CHAT]
  if (hasTools) needs.push(TOOLS)
  if (hasFormat) needs.push(FORMAT)
  if (seesImages) needs.push(VISION)
  return needs
}

function unsupported(param: string, provider: Provider): Refusal {
  return {
    code: 'invalid_request',
    message: `${param}: the provider ${provider.id} cannot honour this parameter.`,
    param,
  }
}

function orderAlias(
  alias: Alias,
  usable: readonly PlannedTarget[],
  call: ChatCall,
  environment: Environment,
  deps: GatewayDeps,
): readonly PlannedTarget[] {
  const isTimed = alias.strategy === 'lowest_latency'
  const entries = usable.map(target => ({
    target,
    weight: target.alias?.weight ?? 1,
    pricing: target.catalogModel?.pricing ?? null,
    latencyMs: isTimed
      ? deps.latencies.find(latencyKey(environment.id, target.id, call.request.stream))
      : undefined,
  }))
  return orderTargets(alias.strategy, entries, chance(deps.random)).map(({ target }) => target)
}

/** Money is a reason of its own; everything else that stands against every target is one answer (spec.md "Errors"). */
function noTarget(alias: Alias, plans: readonly TargetPlan[]): Fault {
  for (const plan of plans) {
    if (!('refusal' in plan)) continue
    const { code } = plan.refusal
    if (code === 'budget_exceeded' || code === 'model_unpriced') return toFault(plan.refusal)
  }
  const [first] = plans
  if (first !== undefined && 'refusal' in first && plans.every(isForbidden)) return toFault(first.refusal)
  return new Fault(
    'no_eligible_target',
    `No target of the alias "${alias.name}" can serve this request here: a credential or a capability is missing.`,
    { param: 'model' },
  )
}

function isForbidden(plan: TargetPlan): boolean {
  return 'refusal' in plan && plan.refusal.code === 'model_not_allowed'
}

function toFault({ code, message, param }: Refusal): Fault {
  return new Fault(code, message, param === undefined ? {} : { param })
}
