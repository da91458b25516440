import { createSeededRandom } from './seeded-random.ts'
import type { RequestRecord } from '../../server/core/request-record.ts'
import type { TestApp } from '../../server/testing/harness/app.ts'
import { insertRecords } from '../../server/testing/harness/insert-records.ts'
import { requestRecord } from '../../server/testing/harness/request-record.ts'

const MODELS = [
  { provider: 'openai', model: 'gpt-4o-mini', weight: 6, inputUsd: 0.15, outputUsd: 0.6 },
  { provider: 'anthropic', model: 'claude-sonnet-4-5', weight: 3, inputUsd: 3, outputUsd: 15 },
  { provider: 'gemini', model: 'gemini-2.5-flash', weight: 2, inputUsd: 0.3, outputUsd: 2.5 },
  { provider: 'groq', model: 'llama-3.3-70b-versatile', weight: 1, inputUsd: 0.59, outputUsd: 0.79 },
] as const

const FAILURES = [
  [429, 'rate_limit_exceeded'],
  [503, 'provider_overloaded'],
  [504, 'timeout'],
  [402, 'budget_exceeded'],
] as const

/** What a day of believable traffic looks like: keys, a failing credential, a budget, and `count` requests that ended before `now`. */
export async function seedDay(app: TestApp, now: number, count = 400): Promise<void> {
  const random = createSeededRandom(7)
  const keys: string[] = []
  for (const name of ['web-backend', 'nightly-batch', 'mobile-app']) {
    const { id } = await app.createKey({ name, restrictions: { max_request_cost_usd: 0.5 } })
    keys.push(id)
  }
  const old = await app.createKey({ name: 'old-importer' })
  await app.manage('POST', `/v1/keys/${old.id}/revoke`)
  await app.createKey({ name: 'ios-app', kind: 'publishable' })
  await app.addCredential('openai', { name: 'OpenAI, Berlin', api_key: 'sk-0000000000000000' })
  await app.manage('POST', `/v1/projects/${app.projectId}/budgets`, { limit_usd: 50, window: 'month' })
  const { rows } = await app.database.pool.query('select * from environments where id = $1', [
    app.developmentId,
  ])
  const records = Array.from({ length: count }, (_, index): RequestRecord => {
    const at = now - Math.floor(random() ** 1.3 * 23.5 * 3_600_000) - 1_000
    const id = `0192${index.toString(16).padStart(4, '0')}-0000-7000-8000-${String(index).padStart(12, '0')}`
    const { provider, model, inputUsd, outputUsd } = pick(MODELS, random)
    const failure = random() < 0.04 ? FAILURES[Math.floor(random() * FAILURES.length)] : undefined
    const [input, output] = [Math.floor(200 + random() ** 3 * 6_000), Math.floor(20 + random() ** 2 * 900)]
    const firstByteMs = 180 + random() ** 2 * 900
    const totalMs = firstByteMs + output * 8
    const attempt = { provider, model, credential_id: id, status: 200, error: null, ms: totalMs - 2 }
    const failedFirst = random() < 0.05
    return requestRecord(rows[0], id, at, {
      key_id: keys[index % keys.length] ?? null,
      end_user_id: `user-${Math.floor(random() ** 3 * 60)}`,
      model_requested: random() < 0.3 ? 'fast' : `${provider}/${model}`,
      provider,
      model,
      stream: true,
      sandbox: false,
      queue_ms: 1.2,
      first_byte_ms: failure === undefined ? firstByteMs : null,
      total_ms: failure === undefined ? totalMs : 120,
      uncached_input_tokens: input,
      cache_read_tokens: Math.floor(input / 3),
      output_tokens: failure === undefined ? output : 0,
      reasoning_tokens: 0,
      cost_nano_usd: failure === undefined ? Math.round((input * inputUsd + output * outputUsd) * 1_000) : 0,
      hold_tokens: input + 1_000,
      hold_nano_usd: 12_000_000,
      status: failure?.[0] ?? 200,
      error_code: failure?.[1] ?? null,
      finish_reason: failure === undefined ? 'stop' : null,
      attempts: failedFirst
        ? [
            { ...attempt, status: 503, error: 'provider_overloaded', ms: 90 },
            { ...attempt, ms: totalMs - 92 },
          ]
        : [attempt],
      metadata: { feature: index % 3 === 0 ? 'search' : 'assistant' },
      request_body: JSON.stringify({
        model: `${provider}/${model}`,
        messages: [{ role: 'user', content: 'Summarise <img src=x onerror=alert(1)> the quarter.' }],
      }),
      response_body: JSON.stringify({
        choices: [{ message: { role: 'assistant', content: 'Revenue grew.' } }],
      }),
    })
  })
  const { rejected } = await insertRecords(app.database.pool, records)
  if (rejected.length > 0) throw new Error(`${rejected.length} records were rejected`)
}

function pick<T extends { readonly weight: number }>(entries: readonly T[], random: () => number): T {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0)
  let left = random() * total
  for (const entry of entries) {
    left -= entry.weight
    if (left < 0) return entry
  }
  return entries[0] as T
}
