import { describe, expect, test } from 'vitest'
import { UNBOUNDED } from './json-bounds.ts'
import { SlicedJsonScan } from './json-scan.ts'
import { countLoneSurrogates, MAX_LONE_SURROGATES } from './lone-surrogates.ts'

describe('countLoneSurrogates', () => {
  test.each([
    [String.raw`"\ud83d\ude00"`, 0],
    [String.raw`"\uD83D\uDE00 \ud83d\uDE00"`, 0],
    [String.raw`"\ud83d"`, 1],
    [String.raw`"\ude00"`, 1],
    [String.raw`"\ude00\ud83d"`, 2],
    [String.raw`"\ud83d\ud83d\ude00"`, 1],
    [String.raw`"\ud83d \ude00"`, 2],
    [String.raw`"\\ud83d \\\\ude00"`, 0],
    [String.raw`"\\\ud83d"`, 1],
    [String.raw`"\n\t\u00e9\ud7ff\ue000ud83d"`, 0],
    ['"😀 \\"', 0],
    ['', 0],
  ])('%s has %i', (json, count) => {
    expect(countLoneSurrogates(json)).toBe(count)
  })
})

function scan(text: string, slices?: { tokenBytes: number; stringBytes: number }) {
  const sliced = new SlicedJsonScan(Buffer.from(text), UNBOUNDED, slices)
  while (!sliced.step());
  return sliced.result
}

describe('a long text', () => {
  const half = String.raw`\ud800`

  test.each([
    ['one string', (count: number) => `["${half.repeat(count)}"]`],
    ['the whole text', (count: number) => `"${half.repeat(count)}"`],
    [
      'a thousand strings',
      (count: number) => `[${Array(1_000).fill(`"${half.repeat(count / 1_000 + 1)}"`)}]`,
    ],
    [
      'names of fields',
      (count: number) =>
        `{${Array.from({ length: 1_000 }, (_, at) => `"${at}${half.repeat(count / 1_000 + 1)}":0`)}}`,
    ],
  ])('with too many half pairs in %s is refused, since they are slow to encode', (_, make) => {
    const result = scan(make(MAX_LONE_SURROGATES + 1_000))
    expect(result).toEqual({ ok: false, reason: 'not_unicode' })
    expect(scan(make(10_000))).toMatchObject({ ok: true })
  })

  test('has as many whole pairs as it likes', () => {
    const text = JSON.stringify([String.raw`\ud83d\ude00`.repeat(MAX_LONE_SURROGATES)]).replaceAll(
      '\\\\',
      '\\',
    )
    expect(scan(text)).toMatchObject({ ok: true })
  })
})
