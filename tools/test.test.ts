import { expect, test } from 'vitest'
import { summarize } from './test.mjs'

const result = (status: string, fullName = status) => ({ status, fullName })

test('counts passed, failed and skipped tests, and names the skipped', () => {
  const report = {
    testResults: [
      {
        name: 'a.test.ts',
        status: 'failed',
        assertionResults: [result('passed'), result('passed'), result('failed')],
      },
      {
        name: 'b.test.ts',
        status: 'passed',
        assertionResults: [result('skipped', 'x'), result('todo', 'y'), result('pending', 'z')],
      },
    ],
  }
  expect(summarize(report)).toEqual({
    passed: 2,
    failed: 1,
    skipped: ['b.test.ts > x', 'b.test.ts > y', 'b.test.ts > z'],
  })
})

test('a file that does not load is a failure, not silence', () => {
  expect(
    summarize({ testResults: [{ name: 'a.test.ts', status: 'failed', assertionResults: [] }] }).failed,
  ).toBe(1)
})
