import { expect, test } from 'vitest'
import { toBucketRate } from '../../core/admission/token-bucket.ts'
import type { RequestContext } from '../request/request-context.ts'
import { openTicker } from '../request/ticker.ts'
import type { Tenant } from '../tenants/snapshots.ts'
import { FrontDoor } from './front-door.ts'

test('front doors that share their rates admit the bursts of a key and an end user once, however they are spread', () => {
  const ticker = openTicker()
  const doors: FrontDoor[] = []
  const open = (): void => {
    const door: FrontDoor = new FrontDoor({
      limits: {
        keyRate: toBucketRate(20, 5),
        endUserRate: toBucketRate(4, 5),
        addressRate: toBucketRate(100, 5),
        openRequests: 1000,
        bodyBytes: 1e9,
        answerBytes: 1e9,
      },
      trustedProxies: { has: () => false },
      ticker,
      log: { warn: () => {} },
      sharing: {
        publish: (kind, key, count) => {
          for (const other of doors) if (other !== door) other.takeReported(kind, key, count, 1000)
        },
      },
    })
    doors.push(door)
  }
  for (let index = 0; index < 4; index++) open()
  const count = (door: FrontDoor, endUser: string | undefined): number => {
    const admissionKeys = { org: 'o', environment: 'e', credential: 'k', endUser }
    const ctx = { startedAt: 1000 } as RequestContext
    try {
      door.countKnown(ctx, { caller: { kind: 'secret' }, admissionKeys } as unknown as Tenant)
      return 1
    } catch {
      return 0
    }
  }
  // Whoever comes second has learned what it missed, also of callers that it had never seen.
  const admitted = { user: 0, key: 0 }
  for (const door of doors) for (let index = 0; index < 30; index++) admitted.user += count(door, 'u')
  for (const door of doors) for (let index = 0; index < 120; index++) admitted.key += count(door, undefined)
  ticker.close()
  // 20 and 100 tokens, and of each a 64th for each door.
  expect(admitted.user).toBeGreaterThanOrEqual(20)
  expect(admitted.user).toBeLessThanOrEqual(20 + 4 * 2)
  expect(admitted.user + admitted.key).toBeGreaterThanOrEqual(100)
  expect(admitted.user + admitted.key).toBeLessThanOrEqual(100 + 4 * 7)
})
