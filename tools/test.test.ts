import { expect, test } from 'vitest'
import { findFailures, summarize } from './test.mjs'

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

test('finds each file with failures once, and the names of its failed tests', () => {
  const failing = {
    name: 'a.test.ts',
    status: 'failed',
    assertionResults: [result('passed'), result('failed', 'x')],
  }
  const broken = { name: 'b.test.ts', status: 'failed', assertionResults: [] }
  const passing = { name: 'c.test.ts', status: 'passed', assertionResults: [result('passed')] }
  // The suites that run on two databases are in a report twice.
  expect(findFailures({ testResults: [failing, failing, broken, passing] })).toEqual({
    files: ['a.test.ts', 'b.test.ts'],
    names: ['a.test.ts > x', 'b.test.ts'],
  })
})
