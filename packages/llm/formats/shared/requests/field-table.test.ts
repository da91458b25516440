import { expect, test } from 'vitest'
import type { ChatRequest } from '../../../request/chat-request.ts'
import {
  extra,
  FieldTable,
  flag,
  formatSpecific,
  listSet,
  type MutableRequest,
  nested,
  number,
  own,
} from './field-table.ts'

const CONFIG = new FieldTable({
  maxTokens: number('maxOutputTokens', { min: 1, integer: true }),
  topP: number('topP'),
  topK: extra('top_k', formatSpecific()),
})
const TABLE = new FieldTable({
  model: own('model'),
  config: nested(CONFIG),
  parallel: flag('parallelToolCalls'),
  store: extra(
    'store',
    formatSpecific(value => value === false),
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

test('removes no field that has the name of a field of another format', () => {
  const body = { config: { topP: 0.5, maxTokens: 5 }, model: 'm' }
  for (const name of ['config', 'config.maxTokens', 'model', 'tools[0]']) TABLE.remove(body, name)
  expect(body).toEqual({ config: { topP: 0.5, maxTokens: 5 }, model: 'm' })
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
  expect(TABLE.listFormatSpecific({ store: true, other: 1, none: null })).toEqual(['store', 'other'])
  expect(TABLE.listFormatSpecific({ store: false, config: { topP: 1 } })).toEqual([])
  const body = { config: { topK: 1, other: 1, topP: 1, none: null }, another: 1 }
  expect(TABLE.listFormatSpecific(body)).toEqual(['another', 'config.topK', 'config.other'])
  expect([
    CONFIG.isFormatSpecific('topK', 1),
    CONFIG.isFormatSpecific('topP', 1),
    CONFIG.isFormatSpecific('other', 1),
  ]).toEqual([true, false, false])
})

test('finds the first unknown field, also of a nested object', () => {
  expect(TABLE.findUnknown({ model: 'm', other: null, config: { topK: 1 } })).toBeUndefined()
  expect(TABLE.findUnknown({ config: { topK: 1, other: 1 }, another: 1 })).toBe('config.other')
})

test('lists which names are set to values whose loss would change the answer', () => {
  const request = { ...REQUEST, temperature: 1, topP: 0.5, extra: new Map([['logprobs', true]]) }
  expect(listSet(request, ['temperature', 'top_p', 'seed', 'logprobs', 'stop'])).toEqual([
    'top_p',
    'logprobs',
  ])
})
