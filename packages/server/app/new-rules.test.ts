import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { gateAnswers } from '../testing/fakes/gated-answers.ts'
import { completion } from '../testing/fakes/scripted-upstream.ts'
import {
  type LimitedApp,
  type LimitKind,
  openLimitedApp,
  PRICED_CHAT,
  USED,
} from '../testing/harness/limited-app.ts'
import { untilLockWait } from '../testing/harness/lock-wait.ts'

let limited: LimitedApp

beforeAll(async () => {
  limited = await openLimitedApp()
})
afterAll(async () => {
  await limited.close()
})
beforeEach(async () => {
  await limited.reset()
})

/** Resolves with the result of `write`, which does not commit before `meanwhile` has ended. */
async function commitAfter<Result>(
  write: () => Promise<Result>,
  meanwhile: () => Promise<void>,
): Promise<Result> {
  const { pool } = limited.app.database
  const locker = await pool.connect()
  let writing: Promise<Result>
  try {
    await locker.query('begin')
    // The audit entry is the last row of a write.
    await locker.query('lock table audit_log in exclusive mode')
    writing = write()
    await untilLockWait(pool)
    await meanwhile()
  } finally {
    await locker.query('rollback')
    locker.release()
  }
  return await writing
}

interface Rule {
  readonly id: string
  readonly used?: number
  readonly spent_usd?: number
}

/** The requests that a rule has counted, each of which costs $0.05. */
const counted = ({ used, spent_usd }: Rule): number | undefined =>
  spent_usd === undefined ? used : Math.round(spent_usd / 0.05)

/** The last: how many requests that ended before its creation was in force it counts at first. */
const RULES: readonly [LimitKind, object, object, object, number][] = [
  ['budgets', { limit_usd: 100 }, { window: 'day' }, { window: 'month' }, 1],
  ['quotas', { metric: 'requests', limit: 100 }, { window: 'hour' }, { window: 'day' }, 1],
  ['limits', { metric: 'requests', limit: 100 }, { window_seconds: 600 }, { window_seconds: 3600 }, 0],
]

test.each(RULES)(
  '%s count requests that begin while they are created or changed',
  async (kind, fields, before, after, ended) => {
    const { app, upstream } = limited
    const { id: keyId, key } = await app.createKey({})
    const chat = async (): Promise<void> => {
      expect((await app.call('/v1/chat', PRICED_CHAT, { key })).status).toBe(200)
    }
    const listed = async (id: string) =>
      counted((await limited.list(kind)).find((rule: Rule) => rule.id === id))
    /** One request begins and ends before the commit, another one ends after it. */
    const commitWhileRequestsRun = async <Result>(write: () => Promise<Result>) => {
      const provider = gateAnswers(upstream, [
        completion('one', { usage: USED }),
        completion('two', { usage: USED }),
      ])
      let second: Promise<void> | undefined
      const result = await commitAfter(write, async () => {
        const first = chat()
        await provider.arrived()
        provider.open()
        await first
        second = chat()
        await provider.arrived()
      })
      provider.open()
      await second
      return result
    }
    const scoped = { ...fields, scope: 'key', scope_ref: keyId }
    const made: Rule = await commitWhileRequestsRun(() => limited.limit(kind, { ...scoped, ...before }))
    expect([counted(made), await listed(made.id)]).toEqual([ended, ended + 1])
    const change = () => app.manage('PATCH', `/v1/${kind}/${made.id}`, after)
    const changed = await commitWhileRequestsRun(change)
    expect([counted(changed.body), await listed(made.id)]).toEqual([3, 4])
  },
)
