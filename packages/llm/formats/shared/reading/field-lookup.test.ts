import { expect, test } from 'vitest'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { checked, FieldTable, type MutableRequest, nested, number, own } from '../requests/field-table.ts'
import { numberAt } from './read-fields.ts'

const TABLE = new FieldTable({
  cap: own('maxOutputTokens'),
  old_cap: own('maxOutputTokens'),
  tools: own('tools', 'toolChoice'),
  seed: checked('seed', (value, path) => (numberAt(value, path) > 0 ? value : undefined)),
  flavour: own(),
  options: nested(new FieldTable({ heat: number('temperature') })),
})

const toRequest = (fields: Partial<ChatRequest>): ChatRequest => ({
  model: 'x',
  messages: [],
  stream: false,
  includeUsage: false,
  ...fields,
})

test('lists every field of a canonical one', () => {
  expect(TABLE.namesOf('maxOutputTokens')).toEqual(['cap', 'old_cap'])
  expect(TABLE.namesOf('user')).toEqual([])
})

test('finds the value of a field in the request: a canonical one, or an extra field', () => {
  const request = toRequest({ maxOutputTokens: 9, extra: new Map([['flavour', 'sweet']]) })
  expect(TABLE.valueOf(request, 'old_cap')).toBe(9)
  expect(TABLE.valueOf(request, 'flavour')).toBe('sweet')
  expect(TABLE.valueOf(request, 'seed')).toBeUndefined()
  expect(TABLE.valueOf(request, 'constructor')).toBeUndefined()
})

test('takes fields without canonical meaning for extra ones, unless they are null', () => {
  const body = JSON.parse('{"cap":1,"seed":2,"flavour":"a","new":{"b":1},"none":null,"__proto__":3}')
  expect(TABLE.readExtra(body)).toEqual(
    new Map<string, unknown>([
      ['flavour', 'a'],
      ['new', { b: 1 }],
      ['__proto__', 3],
    ]),
  )
  expect(TABLE.readExtra({ cap: 1 })).toBeUndefined()
})

test('a value that asks for nothing leaves no canonical field', () => {
  const request: MutableRequest = toRequest({})
  TABLE.read({ seed: 0 }, request)
  expect(Object.hasOwn(request, 'seed')).toBe(false)
  TABLE.read({ seed: 1 }, request)
  expect(request.seed).toBe(1)
})

test('a parameter that shares a field with another is supported', () => {
  const request = toRequest({ toolChoice: 'required', seed: 1, temperature: 0, topP: 0.5 })
  expect(TABLE.listUnsupported(request)).toEqual(['top_p'])
})
