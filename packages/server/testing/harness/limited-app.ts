import { expect } from 'vitest'
import type { GatewayDeps } from '../../gateway/deps.ts'
import { completion, openScriptedUpstream, type ScriptedUpstream } from '../fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from './app.ts'

/** A model at $50 per million output tokens, with free input: a thousand output tokens cost exactly $0.05. */
export const PRICED = 'custom/priced'
/** A model with a name and capabilities whose price is unknown. */
export const UNPRICED = 'custom/unpriced'
/** A request that costs $0.05 if it uses all its output tokens. */
export const PRICED_CHAT = { model: PRICED, max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }
export const USED = { prompt_tokens: 10, completion_tokens: 1000, total_tokens: 1010 }

export type LimitKind = 'budgets' | 'quotas' | 'limits' | 'plans'

export interface Asked {
  readonly status: number
  readonly text: string
  readonly wasSent: boolean
}

/** An app with limits whose scripted provider has a priced model. */
export interface LimitedApp {
  readonly app: TestApp
  readonly upstream: ScriptedUpstream
  /** The dependencies of its gateway, for tests that make one fail. */
  readonly deps: GatewayDeps
  make(route: string, body: unknown): Promise<any>
  /** Stores a credential of each of these providers, whose server is the scripted one. */
  addCredentials(...providers: readonly string[]): Promise<void>
  /** Calls a route of the gateway. `wasSent`: the provider was called for it. */
  ask(route: string, body: object, key: string, headers?: Record<string, string>): Promise<Asked>
  /** Creates a limit that lasts until the next `reset`. */
  limit(kind: LimitKind, body: Record<string, unknown>): Promise<any>
  /** Creates a key with a monthly budget. `budget` reads that budget. */
  freshKey(limitUsd: number): Promise<{ key: string; budget: () => Promise<any> }>
  list(kind: LimitKind): Promise<any[]>
  /** Removes all limits and makes the provider answer again. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** `logTo`: as for openTestApp. */
export async function openLimitedApp(
  env: Record<string, string> = {},
  logTo?: { write(line: string): void },
): Promise<LimitedApp> {
  const upstream = await openScriptedUpstream()
  let deps: GatewayDeps | undefined
  const overrides = {
    bodyTimeoutMs: 60_000,
    graceMs: 1_000,
    onDeps: (made: GatewayDeps) => {
      deps = made
    },
  }
  const app = await openTestApp(env, overrides, logTo)
  if (deps === undefined) throw new Error('the app has no gateway')
  let made: string[] = []
  const make: LimitedApp['make'] = async (route, body) => {
    const { status, body: record } = await app.manage('POST', route, body)
    expect([status, record]).toEqual([201, expect.anything()])
    return record
  }
  const addCredentials: LimitedApp['addCredentials'] = async (...providers) => {
    for (const provider of providers) {
      const options = provider === 'bedrock' ? { options: { region: 'us-east-1' } } : {}
      await app.addCredential(provider, { api_key: 'k', base_url: upstream.baseUrl, ...options })
    }
  }
  await addCredentials('custom')
  for (const [model, pricing] of [
    [PRICED, { input_usd_per_mtok: 0, output_usd_per_mtok: 50 }],
    [UNPRICED, null],
  ] as const) {
    await make(`/v1/environments/${app.developmentId}/custom-models`, {
      model,
      capabilities: ['chat', 'tools'],
      context_window: 100_000,
      max_output_tokens: 10_000,
      pricing,
    })
  }
  const environment = `/v1/environments/${app.developmentId}`
  const routes = {
    budgets: `/v1/projects/${app.projectId}/budgets`,
    quotas: `${environment}/quotas`,
    limits: `${environment}/limits`,
    plans: `${environment}/plans`,
  }
  const limit: LimitedApp['limit'] = async (kind, body) => {
    const record = await make(routes[kind], body)
    made.push(`/v1/${kind}/${record.id}`)
    return record
  }
  const list: LimitedApp['list'] = async kind => (await app.manage('GET', routes[kind])).body.data
  return {
    app,
    upstream,
    deps,
    make,
    addCredentials,
    async ask(route, body, key, headers = {}) {
      const before = upstream.requests.length
      const response = await app.call(route, body, { key, headers })
      const text = await response.text()
      return { status: response.status, text, wasSent: upstream.requests.length > before }
    },
    limit,
    list,
    async freshKey(limitUsd) {
      const { id, key } = await app.createKey({})
      const own = { window: 'month', scope: 'key', scope_ref: id }
      const { id: budgetId } = await limit('budgets', { limit_usd: limitUsd, ...own })
      return { key, budget: async () => (await list('budgets')).find(each => each.id === budgetId) }
    },
    async reset() {
      for (const route of made.reverse()) expect((await app.manage('DELETE', route)).status).toBe(204)
      made = []
      upstream.script(completion('hello', { usage: USED }))
    },
    async close() {
      await app.close()
      await upstream.close()
    },
  }
}
