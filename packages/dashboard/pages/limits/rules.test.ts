import { expect, test } from 'vitest'
import { type Budget, type Limit, type Quota, toPreviewInput, toRules } from './rules.ts'

const ids = { id: 'x', org_id: 'o', project_id: 'p', environment_id: 'e', created_at: '', updated_at: '' }
const limit: Limit = {
  ...ids,
  scope: 'default_end_user',
  scope_ref: null,
  metric: 'requests',
  limit: 60,
  window_seconds: 60,
  used: null,
  reserved: null,
}
const quota: Quota = {
  ...ids,
  scope: 'key',
  scope_ref: 'k1',
  metric: 'tokens',
  window: 'day',
  limit: 1000,
  grace_pct: 10,
  used: 5,
  reserved: null,
  resets_at: '2026-11-23T00:00:00Z',
}
const budget: Budget = {
  ...ids,
  scope: null,
  scope_ref: null,
  window: 'total',
  limit_usd: 50,
  alert_pcts: [],
  on_tight: 'cap',
  spent_usd: 12,
  reserved_usd: 1,
  projected_usd: null,
  resets_at: null,
}

test('describes each rule in words, with what it applies to and the error code of a refusal', () => {
  const rules = toRules({ limits: [limit], quotas: [quota], budgets: [budget] }, id => `<${id}>`)
  expect(rules.map(({ appliesTo, text, code }) => `${appliesTo}: ${text} (${code})`)).toEqual([
    'Project <p>: At most $50.00 in total (budget_exceeded)',
    'Key <k1>: At most 1,000 tokens a day, 10\u00a0% grace (quota_exceeded)',
    'Each end user: At most 60 requests a minute (end_user_rpm_exceeded)',
  ])
  expect(rules[1]?.previewInput).toEqual({
    scope: 'key',
    scope_ref: 'k1',
    metric: 'tokens',
    limit: 1100,
    window: 'day',
  })
})

test('previews only rules on requests and tokens within an environment', () => {
  const draft = { amount: 5, unit: 'requests', window: 'minute', scope: 'environment', ref: '' } as const
  expect(toPreviewInput(draft)).toEqual({
    scope: 'environment',
    metric: 'requests',
    limit: 5,
    window_seconds: 60,
  })
  expect(toPreviewInput({ ...draft, scope: 'key' })).toBeUndefined()
  expect(toPreviewInput({ ...draft, unit: 'usd', window: 'month', scope: 'project' })).toBeUndefined()
})
