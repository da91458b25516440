import { expect, test } from 'vitest'
import { type Budget, type Limit, type Quota, toQuestion, toRules } from './rules.ts'

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

test('rules are said in words, with whom they bind and the code that they cause', () => {
  const rules = toRules({ limits: [limit], quotas: [quota], budgets: [budget] }, id => `<${id}>`)
  expect(rules.map(({ whom, says, code }) => `${whom}: ${says} (${code})`)).toEqual([
    'Project <p>: At most $50.00 in total (budget_exceeded)',
    'Key <k1>: At most 1,000 tokens a day, 10 % grace (quota_exceeded)',
    'Each end user: At most 60 requests a minute (end_user_rpm_exceeded)',
  ])
  expect(rules[1]?.question).toEqual({
    scope: 'key',
    scope_ref: 'k1',
    metric: 'tokens',
    limit: 1100,
    window: 'day',
  })
})

test('only requests and tokens of an environment can be tried on the past', () => {
  const wish = { amount: 5, unit: 'requests', window: 'minute', whom: 'environment', ref: '' } as const
  expect(toQuestion(wish)).toEqual({ scope: 'environment', metric: 'requests', limit: 5, window_seconds: 60 })
  expect(toQuestion({ ...wish, whom: 'key' })).toBeUndefined()
  expect(toQuestion({ ...wish, unit: 'usd', window: 'month', whom: 'project' })).toBeUndefined()
})
