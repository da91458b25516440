import { expect, test } from 'vitest'
import type { RequestRecord } from '../core/records/request-record.ts'
import type { EnvironmentRow } from '../storage/schema.ts'
import { CIRCUIT_MODEL } from './demo-models.ts'
import { type DemoSourceKey, toTraffic } from './demo-traffic.ts'
import { BUSY_KEY, OUTAGE_END_MS, OUTAGE_START_MS } from './incidents.ts'

const NOW = Date.UTC(2026, 10, 26, 15)
const HOUR_MS = 3_600_000
const KEYS: readonly DemoSourceKey[] = [
  { id: 'any', name: 'any', weight: 8, maxUsd: 0.5 },
  { id: BUSY_KEY, name: BUSY_KEY, weight: 2 },
  { id: 'claude', name: 'claude', weight: 4, models: ['anthropic/*'] },
  { id: 'embeddings', name: 'embeddings', weight: 4, models: ['openai/text-embedding-3-small'] },
  { id: 'alias', name: 'alias', weight: 4, models: ['fast', 'openai/gpt-5.4-mini'] },
]

function toRecords(
  now: number,
): readonly (RequestRecord & { readonly ago: number; readonly target: string })[] {
  // The traffic reads nothing else of an environment.
  const environment = { id: 'e', name: 'production', log_capture: 'metadata' } as EnvironmentRow
  const sources = [
    { environment, weight: 1, keys: KEYS, credentials: new Map<string, string>(), endUsers: [] },
  ]
  const traffic = toTraffic({ sources, now, rows: 60_000, timeZone: 'Europe/Berlin' })
  return [...traffic].map(record => ({
    ...record,
    ago: now - Date.parse(record.at),
    target: record.model ?? '',
  }))
}

const RECORDS = toRecords(NOW)

test('a restricted key calls the models that it allows, and is refused for others', () => {
  const ofKey = (id: string) => RECORDS.filter(({ key_id }) => key_id === id)
  for (const [id, allowed] of [
    ['claude', /^anthropic\//],
    ['embeddings', /^openai\/text-embedding-3-small$/],
    ['alias', /^(fast|openai\/gpt-5\.4-mini)$/],
  ] as const) {
    const others = ofKey(id).filter(({ model_requested }) => !allowed.test(model_requested ?? ''))
    expect([id, [...new Set(others.map(({ error_code }) => error_code))]]).toEqual([
      id,
      ['model_not_allowed'],
    ])
    expect(others.length).toBeLessThan(ofKey(id).length / 50)
  }
  expect(ofKey('any').some(({ error_code }) => error_code === 'model_not_allowed')).toBe(false)
})

test('no request costs more than its key allows', () => {
  const costs = RECORDS.filter(({ key_id }) => key_id === 'any').map(
    ({ cost_nano_usd }) => cost_nano_usd ?? 0,
  )
  expect(Math.max(...costs)).toBeLessThan(0.5e9)
})

test('the alias is answered by its first target, in an outage by the second, and a direct request fails then', () => {
  const answered = RECORDS.filter(
    ({ model_requested, status }) => model_requested === 'fast' && status === 200,
  )
  expect([...new Set(answered.map(({ target, attempts }) => `${target} ${attempts.length}`))].sort()).toEqual(
    ['anthropic/claude-haiku-4-5 1', 'openai/gpt-5.4-mini 2'],
  )
  const inOutage = RECORDS.filter(({ ago }) => ago < OUTAGE_START_MS && ago >= OUTAGE_END_MS)
  const direct = inOutage.filter(({ model_requested }) => model_requested?.startsWith('anthropic/'))
  expect(direct.length).toBeGreaterThan(0)
  expect(direct.filter(({ status }) => status === 200)).toEqual([])
})

test('no request tries the model of the open circuit after the outage', () => {
  expect(RECORDS.filter(({ ago, target }) => ago < OUTAGE_END_MS && target === CIRCUIT_MODEL)).toEqual([])
})

test.each([
  ['the middle of a month', NOW],
  ['the first hours of a month', Date.UTC(2026, 10, 1, 12)],
])('the key whose budget is used up is refused until the end, and was answered earlier in %s', (_, now) => {
  const ofKey = (now === NOW ? RECORDS : toRecords(now)).filter(({ key_id }) => key_id === BUSY_KEY)
  const newest = ofKey.filter(({ ago }) => ago < 5 * HOUR_MS)
  expect([...new Set(newest.map(({ error_code, status }) => `${status} ${error_code}`))]).toEqual([
    '402 budget_exceeded',
  ])
  expect(ofKey.some(({ ago, status }) => ago < 24 * HOUR_MS && status === 200)).toBe(true)
})
