import { costNanoUsd } from '@rideau/llm/usage/pricing'
import { isModelAllowed } from '../core/access/authorize.ts'
import { FAULTS, type FaultCode } from '../core/fault-table.ts'
import { openIds } from '../core/ids.ts'
import type { AttemptRecord, RequestRecord } from '../core/records/request-record.ts'
import { calendarBoundsAt } from '../core/tenancy/windows.ts'
import type { EnvironmentRow } from '../storage/schema.ts'
import { toBodies } from './demo-bodies.ts'
import { ALIAS, ALIAS_TARGETS, CIRCUIT_MODEL, DEMO_MODELS, type DemoModel, SANDBOX } from './demo-models.ts'
import { toHourlyLoad } from './hourly-load.ts'
import { BUSY_KEY, type Incident, incidentAt, OUTAGE_END_MS } from './incidents.ts'
import { createSeededRandom, logNormal, pick, toBytes } from './seeded-random.ts'

/** A key of the demo with its share of the traffic, and what it may use. */
export interface DemoSourceKey {
  readonly id: string
  readonly name: string
  readonly weight: number
  readonly models?: readonly string[] | undefined
  /** The most that one request may cost, in US dollars. */
  readonly maxUsd?: number | undefined
}

/** An environment of the demo with its share of the traffic. */
export interface DemoSource {
  readonly environment: EnvironmentRow
  readonly weight: number
  readonly keys: readonly DemoSourceKey[]
  /** The credential of each provider. */
  readonly credentials: ReadonlyMap<string, string>
  /** The most frequent first. */
  readonly endUsers: readonly string[]
}

export interface TrafficOptions {
  readonly sources: readonly DemoSource[]
  /** Unix milliseconds. */
  readonly now: number
  readonly rows: number
  readonly timeZone: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** When the traffic moves from one model to its successor, and how long that takes. */
const MIGRATION_AT_MS = 7 * 7 * DAY_MS
const MIGRATION_MS = 5 * DAY_MS
/** How long ago the budget of BUSY_KEY was used up. */
const USED_UP_MS = 20 * HOUR_MS
const ALIAS_SHARE = 0.15
const SANDBOX_SHARE = 0.1
/** The share of requests by a restricted key that name another model. */
const FORBIDDEN_SHARE = 0.002
/** What a request of `isHuge` costs at most, in US dollars. */
const HUGE_USD = 5
const USUAL_FAILURES = [
  { code: 'rate_limit_exceeded', weight: 5 },
  { code: 'provider_overloaded', weight: 3 },
  { code: 'timeout', weight: 2 },
  { code: 'invalid_request', weight: 2 },
  { code: 'content_filtered', weight: 1 },
] as const satisfies readonly { code: FaultCode; weight: number }[]

/**
 * Yields about `rows` records in the order of their time, which obey the rules of the demo: what keys allow, the alias and the used-up
 * budget. The same options give the same records, except the ids of resources.
 */
export function* toTraffic({ sources, now, rows, timeZone }: TrafficOptions): Generator<RequestRecord> {
  const random = createSeededRandom(7)
  let clockAt = now
  const newId = openIds({ now: () => clockAt }, toBytes(random))
  const codes = (Object.keys(FAULTS) as FaultCode[]).filter(code => code !== 'budget_exceeded')
  // At the start of a month too, something was spent before the budget was used up.
  const { start: monthStart } = calendarBoundsAt('month', now, timeZone)
  const usedUpAt = now - Math.min(USED_UP_MS, (now - monthStart) / 2)
  let index = 0
  for (const { start, requests } of toHourlyLoad(now, rows, timeZone)) {
    const times = Array.from({ length: requests }, () => Math.floor(start + random() * HOUR_MS)).sort(
      (a, b) => a - b,
    )
    for (const at of times) {
      clockAt = at
      const source = pick(sources, random)
      const incident = incidentAt(now - at, random)
      // Each code once, in the newest fortnight.
      const rare = now - at < 14 * DAY_MS && codes.length > 0 && random() < 0.05 ? codes.pop() : undefined
      const request = { source, at, ago: now - at, index, incident, rare, isUsedUp: at >= usedUpAt }
      yield toRecord(request, newId(), random, now)
      index++
    }
  }
}

interface DemoRequest {
  readonly source: DemoSource
  readonly at: number
  readonly ago: number
  readonly index: number
  readonly incident: Incident
  readonly rare: FaultCode | undefined
  /** Whether the budget of BUSY_KEY is used up. */
  readonly isUsedUp: boolean
}

function toRecord(request: DemoRequest, id: string, random: () => number, now: number): RequestRecord {
  const { source, at, index, incident } = request
  const { key, requested, model, fallback, isForbidden } = pickCall(request, random, now)
  const code = isForbidden ? 'model_not_allowed' : findFailure(request, key, model, fallback, random)
  const served = code === undefined || code === 'stream_interrupted'
  const sandbox = model === SANDBOX
  const isHuge = model.reasons === true && index % 997 === 0 && (key.maxUsd ?? HUGE_USD) >= HUGE_USD
  const usage = toUsage(model, served, isHuge, index, random)
  const firstByteMs = logNormal(random, model.firstByteMs, 0.45) * incident.slowness(model.provider)
  const totalMs = served ? firstByteMs + usage.output * model.msPerToken * (0.8 + random() * 0.4) : 40
  const fallsBack = served && fallback !== undefined && incident.isOut(model.provider)
  const answering = fallsBack ? fallback : model
  const cost = sandbox ? 0 : costNanoUsd(usage, answering.pricing)
  const isCaptured = source.environment.log_capture === 'full'
  return {
    id,
    at: new Date(at).toISOString(),
    request_id: id,
    org_id: source.environment.org_id,
    project_id: source.environment.project_id,
    environment_id: source.environment.id,
    key_id: key.id,
    end_user_id: toEndUser(source, random),
    endpoint: model.endpoint,
    surface:
      random() < 0.55 ? 'native' : model.endpoint === 'embeddings' || random() < 0.7 ? 'openai' : 'anthropic',
    model_requested: requested,
    user: null,
    provider: answering.provider,
    model: nameOf(answering),
    stream: model.endpoint === 'chat' && random() < 0.7,
    status: code === undefined ? 200 : FAULTS[code].status,
    error_code: code ?? null,
    provider_message: code === 'provider_rejected' ? 'max_tokens is too large for this model.' : null,
    finish_reason: !served ? null : random() < 0.03 ? 'length' : 'stop',
    queue_ms: round(0.4 + random() * 1.8),
    first_byte_ms: served ? round(firstByteMs + (fallsBack ? 281 : 0)) : null,
    total_ms: round(totalMs + (fallsBack ? 281 : 0)),
    uncached_input_tokens: usage.uncachedInput,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    output_tokens: usage.output,
    reasoning_tokens: usage.reasoning,
    usage_estimated: code === 'stream_interrupted' || random() < 0.004,
    cost_nano_usd: served ? cost : 0,
    hold_tokens: usage.uncachedInput + 1_024,
    hold_nano_usd: cost === null ? null : Math.round(cost * 1.6) + 1_000,
    output_cap: null,
    sandbox,
    attempts: toAttempts(source, model, answering, { code, fallsBack, totalMs }),
    metadata: random() < 0.4 ? { feature: random() < 0.5 ? 'search' : 'assistant' } : null,
    ...(isCaptured && served ? toBodies(answering, index) : { request_body: null, response_body: null }),
  }
}

/** What a request asks for. */
interface DemoCall {
  readonly key: DemoSourceKey
  readonly requested: string
  readonly model: DemoModel
  /** The alias's second target. */
  readonly fallback?: DemoModel
  /** Whether the key may not use the model. */
  readonly isForbidden?: boolean
}

function pickCall(
  { source, at, ago, incident, rare }: DemoRequest,
  random: () => number,
  now: number,
): DemoCall {
  const { keys, environment } = source
  const restricted =
    rare === 'model_not_allowed' ? keys.find(({ models }) => models !== undefined) : undefined
  const key = restricted ?? keys.find(({ name }) => name === incident.keyName) ?? pick(keys, random)
  const allows = (name: string): boolean => isModelAllowed(key.models ?? null, name, name)
  const isForbidden = restricted !== undefined || (key.models !== undefined && random() < FORBIDDEN_SHARE)
  if (
    !isForbidden &&
    environment.name === 'development' &&
    allows(nameOf(SANDBOX)) &&
    random() < SANDBOX_SHARE
  )
    return { key, requested: nameOf(SANDBOX), model: SANDBOX }
  const [model, fallback] = ALIAS_TARGETS
  if (!isForbidden && allows(ALIAS) && random() < ALIAS_SHARE)
    return { key, requested: ALIAS, model, fallback }
  const picked = pickModel(
    at - (now - 90 * DAY_MS),
    each => allows(nameOf(each)) !== isForbidden && !(ago <= OUTAGE_END_MS && nameOf(each) === CIRCUIT_MODEL),
    random,
  )
  return { key, requested: nameOf(picked), model: picked, isForbidden }
}

function nameOf({ provider, model }: DemoModel): string {
  return `${provider}/${model}`
}

function pickModel(
  sinceStart: number,
  isPossible: (model: DemoModel) => boolean,
  random: () => number,
): DemoModel {
  const done = Math.min(1, Math.max(0, (sinceStart - MIGRATION_AT_MS) / MIGRATION_MS))
  const weighted = DEMO_MODELS.filter(isPossible).map(model => ({
    model,
    weight: model.weight * done + (model.former ?? model.weight) * (1 - done),
  }))
  return pick(weighted, random).model
}

function findFailure(
  { incident, rare, isUsedUp }: DemoRequest,
  { name }: DemoSourceKey,
  model: DemoModel,
  fallback: DemoModel | undefined,
  random: () => number,
): FaultCode | undefined {
  if (isUsedUp && name === BUSY_KEY) return 'budget_exceeded'
  if (rare !== undefined && rare !== 'model_not_allowed') return rare
  const known = incident.failure(model.provider)
  if (known !== undefined) return known
  if (incident.isOut(model.provider) && fallback === undefined) return 'provider_overloaded'
  if (random() >= 0.007) return undefined
  return random() < 0.15 ? 'stream_interrupted' : pick(USUAL_FAILURES, random).code
}

function toUsage(model: DemoModel, served: boolean, isHuge: boolean, index: number, random: () => number) {
  const none = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  if (!served) return none
  // Embeddings of a few words are the cheapest requests, long documents the dearest.
  if (model.endpoint === 'embeddings' && index % 7 === 0) return { ...none, uncachedInput: 20 }
  if (isHuge) return { ...none, uncachedInput: 412_000, output: 18_000, reasoning: 26_000 }
  const input = Math.round(logNormal(random, model.inputTokens, 0.8))
  const cacheRead = random() < 0.3 ? Math.floor(input * (0.3 + random() * 0.5)) : 0
  const output = model.outputTokens === 0 ? 0 : Math.round(logNormal(random, model.outputTokens, 0.7))
  const reasoning = model.reasons === true ? Math.round(logNormal(random, 500, 0.8)) : 0
  return { ...none, uncachedInput: input - cacheRead, cacheRead, output, reasoning }
}

/** Zipf's law: the end user of rank n makes a share that falls as 1 / n. */
function toEndUser({ endUsers }: DemoSource, random: () => number): string | null {
  if (endUsers.length === 0 || random() < 0.06) return null
  return endUsers[Math.floor(endUsers.length ** random()) - 1] ?? null
}

function toAttempts(
  { credentials }: DemoSource,
  model: DemoModel,
  answering: DemoModel,
  { code, fallsBack, totalMs }: { code: FaultCode | undefined; fallsBack: boolean; totalMs: number },
): AttemptRecord[] {
  const attemptAt = (model: DemoModel, status: number | null, error: string | null, ms: number) => ({
    provider: model.provider,
    model: model.model,
    credential_id: credentials.get(model.provider) ?? '',
    status,
    error,
    ms: round(ms),
  })
  if (code !== undefined && !isProviderCode(code)) return []
  if (code !== undefined) {
    const status = code === 'timeout' ? null : code === 'provider_auth_failed' ? 401 : 503
    return [attemptAt(model, status, code, totalMs - 2)]
  }
  const answer = attemptAt(answering, 200, null, Math.max(1, totalMs - 2))
  return fallsBack ? [attemptAt(model, 503, 'provider_overloaded', 280), answer] : [answer]
}

function isProviderCode(code: FaultCode): boolean {
  return FAULTS[code].type === 'provider_error' || code === 'provider_rejected' || code === 'content_filtered'
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
