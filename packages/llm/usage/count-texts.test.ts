import { expect, test } from 'vitest'
import { countTexts } from './count-texts.ts'
import { estimateMaxTokens, estimateTokens } from './estimate.ts'

function count(texts: readonly string[]) {
  const counting = countTexts(texts)
  let next = counting.next()
  let steps = 1
  for (; next.done !== true; steps++) next = counting.next()
  return { counted: next.value, steps }
}

const KINDS = ['the fox ', 'ПРИВЕТ, мир 42', '{}[]%#!?', '人工智能', 'a😀']

test('counts each text as the estimates of one text do, wherever a step ends', () => {
  const lengths = [0, 1, 63, 64, 65, 10_000, 65_535, 65_536, 65_537, 200_001]
  const texts = KINDS.flatMap(kind => lengths.map(length => kind.repeat(length).slice(0, length)))
  // A half of an emoji at the end is no character.
  const whole = texts.map(text => text.replace(/[\ud800-\udbff]$/, ''))
  expect(count(whole).counted).toEqual(
    whole.map(text => ({ likely: estimateTokens(text), most: estimateMaxTokens(text) })),
  )
})

test.each<[string, readonly string[], number]>([
  ['one text', ['a'.repeat(10_000_000)], 150],
  ['11 texts', Array.from({ length: 11 }, () => 'a'.repeat(900_000)), 150],
  ['10,000 texts', Array.from({ length: 10_000 }, () => 'a'.repeat(1_000)), 150],
  // Short texts take time too.
  ['60,000 texts of a character', Array.from({ length: 60_000 }, () => 'a'), 50],
  ['60,000 empty texts', Array.from({ length: 60_000 }, () => ''), 1],
])('counts megabytes in short steps: %s', (_, texts, least) => {
  const { steps } = count(texts)
  expect(steps).toBeGreaterThanOrEqual(least)
  expect(steps).toBeLessThan(200)
})

test('counts a text of millions of characters exactly', () => {
  const [counted] = count(['the fox '.repeat(500_000)]).counted
  expect(counted).toEqual({ likely: 1_000_000, most: 1_000_000 })
})

test('nothing is nothing', () => {
  expect(count([]).counted).toEqual([])
})
