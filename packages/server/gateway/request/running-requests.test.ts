import { collectGarbage } from '@rideau/llm/testing/collect-garbage'
import { expect, test } from 'vitest'
import type { RequestContext } from './request-context.ts'
import { RunningRequests } from './running-requests.ts'

const ctxOf = (requestId: string) => ({ requestId }) as RequestContext

test('environments keep nothing once their requests have ended', () => {
  const ENVIRONMENTS = 50_000
  const running = new RunningRequests()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < ENVIRONMENTS; at++) {
    const ctx = ctxOf('the same id')
    expect(running.add(`environment ${at}`, ctx)).toBe(true)
    running.remove(`environment ${at}`, ctx)
  }
  collectGarbage()
  // An entry takes some 400 bytes.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(ENVIRONMENTS * 100)
  expect([running.size, running.ended]).toEqual([0, ENVIRONMENTS])
})

test('a request id is taken while a request with it runs, in its environment only', () => {
  const running = new RunningRequests()
  const [first, second] = [ctxOf('id'), ctxOf('id')]
  expect(running.add('a', first)).toBe(true)
  expect([running.add('a', second), running.add('b', second)]).toEqual([false, true])
  running.remove('a', second)
  expect(running.add('a', second)).toBe(false)
  running.remove('a', first)
  expect(running.add('a', second)).toBe(true)
})
