import type { RequestRecord } from '../../server/core/request-record.ts'
import type { TestApp } from '../../server/testing/harness/app.ts'
import { insertRecords } from '../../server/testing/harness/insert-records.ts'
import { requestRecord } from '../../server/testing/harness/request-record.ts'
import { createSeededRandom } from './seeded-random.ts'

const DAY_MS = 86_400_000
const MODELS = [
  ['openai', 'gpt-4o-mini', 0.004],
  ['anthropic', 'claude-sonnet-4-5', 0.09],
  ['gemini', 'gemini-2.5-flash', 0.01],
  ['groq', 'llama-3.3-70b-versatile', 0.006],
  ['openai', 'gpt-4o', 0.05],
  ['mistral', 'mistral-large-latest', 0.03],
  ['deepseek', 'deepseek-chat', 0.002],
] as const

/** A few requests a day of the `days` before yesterday, fewer on weekends, by several models and end users. */
export async function seedWeeks(app: TestApp, now: number, days = 40): Promise<void> {
  const random = createSeededRandom(11)
  const { rows } = await app.database.pool.query('select * from environments where id = $1', [
    app.developmentId,
  ])
  const records: RequestRecord[] = []
  for (let day = 2; day < days; day++) {
    const date = new Date(now - day * DAY_MS)
    const isWeekend = date.getUTCDay() % 6 === 0
    const count = Math.round((isWeekend ? 5 : 14) * (0.7 + random() * 0.6))
    for (let index = 0; index < count; index++) {
      const [provider, model, usd] = MODELS[Math.floor(random() ** 1.6 * MODELS.length)] ?? MODELS[0]
      const id = `0191${String(records.length).padStart(4, '0')}-0000-7000-8000-${String(records.length).padStart(12, '0')}`
      records.push(
        requestRecord(rows[0], id, date.getTime() - Math.floor(random() * 3_600_000), {
          provider,
          model,
          model_requested: `${provider}/${model}`,
          sandbox: false,
          end_user_id: `user-${Math.floor(random() ** 2 * 30)}`,
          total_ms: 900,
          uncached_input_tokens: 2_000,
          output_tokens: 300,
          cost_nano_usd: Math.round(usd * (0.5 + random()) * 1_000_000_000),
        }),
      )
    }
  }
  const { rejected } = await insertRecords(app.database.pool, records)
  if (rejected.length > 0) throw new Error(`${rejected.length} records were rejected`)
}

/** An alias, limits of each kind, plans and end users. */
export async function seedSettings(app: TestApp): Promise<void> {
  const environment = `/v1/environments/${app.developmentId}`
  await app.manage('POST', `${environment}/model-aliases`, {
    alias: 'fast',
    strategy: 'priority',
    targets: [{ model: 'openai/gpt-4o-mini' }, { model: 'sandbox/echo' }],
  })
  await app.manage('POST', `${environment}/model-aliases`, {
    alias: 'smart',
    strategy: 'weighted',
    targets: [
      { model: 'anthropic/claude-sonnet-4-5', weight: 3 },
      { model: 'openai/gpt-4o', weight: 1 },
    ],
  })
  await app.manage('POST', `${environment}/custom-models`, {
    model: 'openai/our-tune',
    capabilities: ['chat', 'tools'],
    context_window: 128_000,
    pricing: { input_usd_per_mtok: 2, output_usd_per_mtok: 6 },
  })
  const requests = { metric: 'requests', limit: 60 }
  await app.manage('POST', `${environment}/limits`, {
    ...requests,
    scope: 'default_end_user',
    window_seconds: 60,
  })
  await app.manage('POST', `${environment}/limits`, {
    scope: 'environment',
    metric: 'concurrency',
    limit: 40,
  })
  await app.manage('POST', `${environment}/quotas`, {
    ...requests,
    scope: 'environment',
    window: 'month',
    limit: 900,
  })
  await app.manage('POST', `/v1/orgs/${app.orgId}/budgets`, { limit_usd: 5, window: 'month' })
  const plans = [
    { name: 'free', requests_per_minute: 10, usd_per_month: 0.5, is_default: true },
    { name: 'pro', requests_per_minute: 120, max_concurrency: 8, tokens_per_day: 2_000_000 },
  ]
  for (const plan of plans) await app.manage('POST', `${environment}/plans`, plan)
  for (const [external_id, plan] of [
    ['user-0', 'pro'],
    ['user-1', null],
    ['user-2', 'free'],
    ['أحمد 🎈', null],
    [`auth0|${'x'.repeat(240)}`, 'pro'],
  ]) {
    await app.manage('POST', `${environment}/end-users`, { external_id, plan })
  }
  const { body } = await app.manage('GET', `${environment}/end-users?external_id=user-2`)
  await app.manage('POST', `/v1/end-users/${body.data[0].id}/block`)
}
