import { expect } from 'vitest'
import type { GatewayDeps } from '../../gateway/deps.ts'
import { completion, openScriptedUpstream, type ScriptedUpstream } from '../fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from './app.ts'

/** $50 per million output tokens, and nothing for input: a thousand tokens of output are exactly $0.05. */
export const PRICED = 'custom/priced'
/** It has a name and capabilities, but nobody knows its price. */
export const UNPRICED = 'custom/unpriced'
/** Uses what it may: $0.05. */
export const ASK = { model: PRICED, max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }
export const USED = { prompt_tokens: 10, completion_tokens: 1000, total_tokens: 1010 }

export type LimitKind = 'budgets' | 'quotas' | 'limits' | 'plans'

/** An app whose scripted provider has a price, and what limits its requests. */
export interface LimitedApp {
  readonly app: TestApp
  readonly upstream: ScriptedUpstream
  /** What its gateway works with, for tests that break it. */
  readonly deps: GatewayDeps
  make(route: string, body: unknown): Promise<any>
  /** Made until the next `reset`. */
  limit(kind: LimitKind, body: Record<string, unknown>): Promise<any>
  /** A key that nobody used, with a budget a month; and how that stands. */
  freshKey(limitUsd: number): Promise<{ key: string; budget: () => Promise<any> }>
  list(kind: LimitKind): Promise<any[]>
  /** Removes what limits, and lets the provider answer again. */
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
  const limits = {
    bodyTimeoutMs: 60_000,
    graceMs: 1_000,
    onDeps: (made: GatewayDeps) => {
      deps = made
    },
  }
  const app = await openTestApp(env, limits, logTo)
  if (deps === undefined) throw new Error('the app has no gateway')
  let made: string[] = []
  const make: LimitedApp['make'] = async (route, body) => {
    const { status, body: record } = await app.manage('POST', route, body)
    expect([status, record]).toEqual([201, expect.anything()])
    return record
  }
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
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
