import { expect, test } from 'vitest'
import type { ChatRequest } from '../../request/chat-request.ts'
import {
  extra,
  FieldTable,
  flag,
  listSet,
  type MutableRequest,
  nested,
  number,
  onlyHere,
  own,
} from './field-table.ts'

const CONFIG = new FieldTable({
  maxTokens: number('maxOutputTokens', { min: 1, integer: true }),
  topP: number('topP'),
  topK: extra('top_k', onlyHere()),
})
const TABLE = new FieldTable({
  model: own('model'),
  config: nested(CONFIG),
  parallel: flag('parallelToolCalls'),
  store: extra(
    'store',
    onlyHere(value => value === false),
  ),
})
const REQUEST: ChatRequest = { model: 'm', messages: [], stream: false, includeUsage: false }

const read = (body: Parameters<FieldTable['read']>[0]): MutableRequest => {
  const request: MutableRequest = { ...REQUEST }
  TABLE.read(body, request)
  return request
}

test('reads the fields of a nested object, and takes null for absent', () => {
  const body = { config: { maxTokens: 5, topP: 0.5, topK: 1 }, parallel: false }
  expect(read(body)).toEqual({ ...REQUEST, maxOutputTokens: 5, topP: 0.5, parallelToolCalls: false })
  expect(read({ config: null, parallel: null })).toEqual(REQUEST)
})

test.each([
  [{ config: [] }, 'config'],
  [{ config: { maxTokens: 0 } }, 'config.maxTokens'],
  [{ parallel: 1 }, 'parallel'],
])('refuses a value of the wrong form by its path: %j', (body, param) => {
  expect(() => read(body)).toThrow(expect.objectContaining({ param }))
})

test('writes canonical and extra fields where they belong, and no empty object', () => {
  const body = {}
  TABLE.write({ ...REQUEST, topP: 0.5, extra: new Map([['top_k', 3]]) }, body)
  expect(body).toEqual({ config: { topP: 0.5, topK: 3 } })
  const bare = {}
  TABLE.write(REQUEST, bare)
  expect(bare).toEqual({})
})

test('removes a parameter by its canonical name, with the object that it leaves empty', () => {
  const body = { config: { topP: 0.5, topK: 3 }, store: true }
  TABLE.remove(body, 'top_p')
  expect(body).toEqual({ config: { topK: 3 }, store: true })
  TABLE.remove(body, 'top_k')
  TABLE.remove(body, 'store')
  expect(body).toEqual({})
})

test('spells nested parameters by their paths, and counts them as supported', () => {
  expect([...TABLE.spellings]).toEqual([
    ['top_p', 'config.topP'],
    ['top_k', 'config.topK'],
    ['parallel_tool_calls', 'parallel'],
  ])
  expect(TABLE.extras).toEqual(['top_k', 'store'])
  expect(TABLE.listUnsupported({ ...REQUEST, topP: 0.5, seed: 1 })).toEqual(['seed'])
})

test('lists unknown fields and values that only the format has, without those that ask for nothing', () => {
  expect(TABLE.listOnlyHere({ store: true, other: 1, none: null })).toEqual(['store', 'other'])
  expect(TABLE.listOnlyHere({ store: false, config: { topK: 1 } })).toEqual([])
  expect([CONFIG.isOnlyHere('topK', 1), CONFIG.isOnlyHere('topP', 1), CONFIG.isOnlyHere('other', 1)]).toEqual(
    [true, false, false],
  )
})

test('lists which names are set to values whose loss would change the answer', () => {
  const request = { ...REQUEST, temperature: 1, topP: 0.5, extra: new Map([['logprobs', true]]) }
  expect(listSet(request, ['temperature', 'top_p', 'seed', 'logprobs', 'stop'])).toEqual([
    'top_p',
    'logprobs',
  ])
})
