import { expect, test } from 'vitest'
import {
  countFilters,
  parseLogSearch,
  parseMetadataText,
  parseValuesText,
  toLogQuery,
  toMetadataText,
  toValuesText,
} from './log-search.ts'

const NOW = Date.UTC(2026, 10, 22, 14)

test('reads every filter of an address and leaves out what is no value of it', () => {
  const search = parseLogSearch({
    status: '5xx',
    error_code: 'timeout',
    model: 'openai/gpt-4o',
    key_id: 'not-a-uuid',
    min_cost_usd: '-1',
    min_latency_ms: '250',
    range: 'forever',
    tail: '1',
    colour: 'red',
  })
  expect(search).toEqual({
    status: '5xx',
    error_code: 'timeout',
    model: 'openai/gpt-4o',
    min_latency_ms: '250',
    tail: '1',
  })
  expect(countFilters(search)).toBe(4)
})

test('a filter may have several values and values that must not match', () => {
  const search = parseLogSearch({
    status: ['4xx', 500, 'abc'],
    model: ['a', 'a'],
    'not.provider': ['azure', 'openai'],
    'not.stream': 'true',
    stream: true,
    endpoint: 'models',
    request_id: '0192abcd-1',
  })
  expect(search).toEqual({
    status: ['4xx', '500'],
    model: 'a',
    'not.provider': ['azure', 'openai'],
    stream: 'true',
    request_id: '0192abcd-1',
  })
  expect(countFilters(search)).toBe(5)
  expect(toLogQuery(search, NOW)).toMatchObject({
    status: ['4xx', '500'],
    'not.provider': ['azure', 'openai'],
  })
})

test('people write values with commas, and an exclamation mark before what must not match', () => {
  const search = parseLogSearch(parseValuesText('model', ' gpt-4o, !o3,!, , !o4 '))
  expect(search).toEqual({ model: 'gpt-4o', 'not.model': ['o3', 'o4'] })
  expect(toValuesText(search, 'model')).toBe('gpt-4o, !o3, !o4')
})

test('a range counts back from now; fixed times win over it', () => {
  expect(toLogQuery({ range: '1h', status: '200' }, NOW)).toEqual({
    status: '200',
    from: '2026-11-22T13:00:00.000Z',
  })
  expect(toLogQuery({}, NOW)).toEqual({ from: '2026-11-21T14:00:00.000Z' })
  expect(toLogQuery({ range: '1h', to: '2026-11-20T00:00:00Z' }, NOW)).toEqual({
    to: '2026-11-20T00:00:00.000Z',
  })
})

test('metadata is filtered by any number of keys, which people write as pairs', () => {
  const search = parseLogSearch({
    'metadata.team': 'web',
    'metadata.v': 2,
    'metadata.': 'x',
    'metadata.list': ['a'],
  })
  expect(search).toEqual({ 'metadata.team': 'web', 'metadata.v': '2' })
  expect(countFilters(search)).toBe(2)
  expect(toLogQuery(search, NOW)).toMatchObject({ 'metadata.team': 'web', 'metadata.v': '2' })
  expect(toMetadataText(search)).toBe('team=web, v=2')
  expect(parseMetadataText(' team = web ,v=2, nothing, =x, url=a=b')).toEqual({
    'metadata.team': 'web',
    'metadata.v': '2',
    'metadata.url': 'a=b',
  })
})
