import { beforeEach, expect, test } from 'vitest'
import { MAX_ANSWER_BYTES } from './stored-answer.ts'
import { type UnstoredAnswer, UnstoredAnswers } from './unstored-answers.ts'

let unstored: UnstoredAnswers
beforeEach(() => {
  unstored = new UnstoredAnswers()
})

/** The bytes of all answers. No test reads them. */
const BYTES = Buffer.alloc(MAX_ANSWER_BYTES)

function toAnswer(orgId: string, bytes: number): UnstoredAnswer {
  return {
    claimId: 'c',
    owner: { orgId, environmentId: `of ${orgId}` },
    remembered: {
      bodyHash: BYTES.subarray(0, 32),
      answer: { headers: [], frames: undefined, body: BYTES.subarray(0, bytes) },
      expiresAt: 1,
    },
    isBusy: false,
  }
}

test('an organization has room for its longest answer, whatever others have', () => {
  for (const orgId of ['a', 'b', 'c', 'd']) {
    expect(unstored.add(orgId, toAnswer(orgId, MAX_ANSWER_BYTES))).toBe(true)
    for (let at = 0; at < 100; at++) unstored.add(`${orgId} ${at}`, toAnswer(orgId, MAX_ANSWER_BYTES / 4))
  }
})

test('an organization has at most a quarter of the bytes, and again what it has stored', () => {
  const answers = Array.from({ length: 20 }, () => toAnswer('busy', 1_000_000))
  const added = answers.filter((answer, at) => unstored.add(`${at}`, answer))
  expect(added.length).toBeGreaterThan(15)
  expect(added.length).toBeLessThan(20)
  expect(unstored.size).toBe(added.length)
  expect(unstored.add('other', toAnswer('other', 1_000_000))).toBe(true)
  unstored.remove('0', answers[0] as UnstoredAnswer)
  // Removed once only.
  unstored.remove('0', answers[0] as UnstoredAnswer)
  expect(unstored.add('new', toAnswer('busy', 1_000_000))).toBe(true)
  expect(unstored.add('newer', toAnswer('busy', 1_000_000))).toBe(false)
})

test('lists the answers of each organization in the order of their addition', () => {
  for (const [key, orgId] of [
    ['a1', 'a'],
    ['b1', 'b'],
    ['a2', 'a'],
  ] as const)
    unstored.add(key, toAnswer(orgId, 10))
  const keys = unstored.listByOrganization().map(answers => answers.map(([key]) => key))
  expect(keys).toEqual([['a1', 'a2'], ['b1']])
})
