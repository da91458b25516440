import { describe, expect, test } from 'vitest'
import { toSpans } from './used-requests.ts'

const at = (text: string): number => Date.parse(`2026-11-21T${text}Z`)
const show = (...span: Parameters<typeof toSpans>): string[] =>
  toSpans(...span).map(({ is_whole: isWhole, since, until }) => {
    const [from, to] = [since, until].map(bound => bound?.toISOString().slice(11, 23) ?? 'ever')
    return `${isWhole ? 'hours' : 'records'} ${from} to ${to}`
  })
const EVER = Number.POSITIVE_INFINITY

describe('a time is divided into whole hours and what is around them', () => {
  test.each<[string, number, number, number, string[]]>([
    ['of whole hours', at('10:00'), at('12:00'), EVER, ['hours 10:00:00.000 to 12:00:00.000']],
    [
      'that begins and ends within hours',
      at('09:59:59.999'),
      at('12:00:00.001'),
      EVER,
      [
        'hours 10:00:00.000 to 12:00:00.000',
        'records 09:59:59.999 to 10:00:00.000',
        'records 12:00:00.000 to 12:00:00.001',
      ],
    ],
    ['within an hour', at('10:00:00.001'), at('10:59'), EVER, ['records 10:00:00.001 to 10:59:00.000']],
    ['around a full hour', at('10:30'), at('11:30'), EVER, ['records 10:30:00.000 to 11:30:00.000']],
    ['without a beginning', -EVER, EVER, EVER, ['hours ever to ever']],
    [
      'without an end',
      at('10:30'),
      EVER,
      EVER,
      ['hours 11:00:00.000 to ever', 'records 10:30:00.000 to 11:00:00.000'],
    ],
    [
      'with open requests',
      at('10:00'),
      EVER,
      at('12:34'),
      ['hours 10:00:00.000 to 12:00:00.000', 'records 12:00:00.000 to ever'],
    ],
    [
      'with requests that were open before it',
      at('10:00'),
      at('14:00'),
      at('09:00'),
      ['records 10:00:00.000 to 14:00:00.000'],
    ],
    [
      'with requests that were always open',
      at('10:00'),
      at('14:00'),
      -EVER,
      ['records 10:00:00.000 to 14:00:00.000'],
    ],
  ])('%s', (_, since, until, openFrom, spans) => {
    expect(show(since, until, openFrom)).toEqual(spans)
  })
})
