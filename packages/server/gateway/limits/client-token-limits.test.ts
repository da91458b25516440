import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestApp } from '../../testing/harness/app.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT } from '../../testing/harness/limited-app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

let limited: LimitedApp
let app: TestApp

beforeAll(async () => {
  limited = await openLimitedApp()
  app = limited.app
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
})

async function mint(): Promise<string> {
  const minted = await app.call('/v1/client-tokens', { end_user: { id: 'alice' }, scopes: ['ai.chat'] })
  return ((await minted.json()) as { token: string }).token
}

async function call(token: string): Promise<{ response: Response; message: string; limitHeaders: string[] }> {
  const response = await app.call('/v1/chat', PRICED_CHAT, { key: token })
  const { error } = (await response.json()) as { error?: { message: string } }
  const limitHeaders = [...response.headers.keys()].filter(name => name.includes('ratelimit'))
  return { response, message: error?.message ?? '', limitHeaders }
}

const RATE = { metric: 'requests', window_seconds: 60 }

describe('a client token', () => {
  test.each([
    ['budgets', { window: 'month', limit_usd: 0.01 }, 402, 'The budget of spend for the project is reached;'],
    ['budgets', { window: 'total', limit_usd: 0.01 }, 402, 'The budget of spend for the project is reached;'],
    [
      'quotas',
      { scope: 'environment', metric: 'tokens', window: 'day', limit: 5 },
      429,
      'The quota of tokens for the environment is exceeded;',
    ],
    [
      'limits',
      { scope: 'environment', ...RATE, limit: 0 },
      429,
      'The limit of requests for the environment is reached;',
    ],
  ] as const)(
    'that %s %j refuse learns the scope and the reset, but no amount, id or header of the limit',
    async (kind, body, status, begin) => {
      await limited.limit(kind, body)
      const { response, message, limitHeaders } = await call(await mint())
      expect([response.status, limitHeaders]).toEqual([status, []])
      expect(message).toMatch(
        new RegExp(
          `^${begin} it (?:does not reset by time|(?:will reset|resets) at 20[-0-9]+T[:0-9.]+Z)\\.$`,
        ),
      )
      expect(response.headers.has('retry-after')).toBe(status === 429)
    },
  )

  test('reads the amounts and headers of its own limits', async () => {
    await limited.limit('limits', { scope: 'default_end_user', ...RATE, limit: 1 })
    const token = await mint()
    const first = await call(token)
    expect([first.response.status, first.limitHeaders.length]).toEqual([200, 5])
    const refused = await call(token)
    expect([refused.response.status, refused.limitHeaders.length]).toEqual([429, 5])
    expect(refused.message).toMatch(/for the end user alice is reached: limit 1, settled 1, /)
  })

  test('gets the headers of its own limit even if less is left of a shared one', async () => {
    await limited.limit('limits', { scope: 'default_end_user', ...RATE, limit: 100 })
    await limited.limit('limits', { scope: 'environment', ...RATE, limit: 2 })
    const { headers } = (await call(await mint())).response
    expect(headers.get('ratelimit-policy')).toBe('"end_user-requests";q=100;w=60')
    expect(headers.get('ratelimit')).toMatch(/^"end_user-requests";r=99;/)
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('99')
  })

  test("reads the amounts and headers of every limit if it is a member's", async () => {
    await limited.limit('limits', { scope: 'environment', ...RATE, limit: 0 })
    const { response, message, limitHeaders } = await call(await makePlaygroundToken(app))
    expect([response.status, limitHeaders.length]).toEqual([429, 5])
    expect(message).toMatch(/for the environment .* is reached: limit 0, /)
  })
})
