import type { RequestRecord } from '../../server/core/records/request-record.ts'
import { createSeededRandom } from '../../server/demo/seeded-random.ts'
import type { TestApp } from '../../server/testing/harness/app.ts'
import { insertRecords } from '../../server/testing/harness/insert-records.ts'
import { requestRecord } from '../../server/testing/harness/request-record.ts'

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
          model: `${provider}/${model}`,
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
