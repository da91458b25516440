import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import {
  FieldTable,
  formatSpecific,
  type MutableRequest,
  nested,
  number,
  opaque,
  own,
  texts,
  withoutNamed,
} from './field-table.ts'

const SAMPLING = new FieldTable({
  maxTokens: number('maxOutputTokens', { min: 1, integer: true }),
  temperature: { ...number('temperature'), write: value => Math.min(1, Number(value)) },
  topP: number('topP'),
  topK: formatSpecific(),
})
const FIELDS = new FieldTable({
  messages: own('messages'),
  sampling: nested(SAMPLING),
  choice: own('toolChoice', 'parallelToolCalls'),
  stop_sequences: texts('stop'),
  betas: opaque(),
})
const toRequest = (fields: Partial<ChatRequest> = {}): MutableRequest => ({
  model: 'm',
  messages: [],
  stream: false,
  includeUsage: true,
  ...fields,
})

describe('a table with a nested table', () => {
  test('reads and writes fields of both, and leaves out an object without any', () => {
    const body = { sampling: { maxTokens: 5, temperature: 0.5 }, stop_sequences: ['x'] }
    const request = toRequest()
    FIELDS.read(body, request)
    expect(request).toEqual(toRequest({ maxOutputTokens: 5, temperature: 0.5, stop: ['x'] }))
    const written: JsonObject = {}
    FIELDS.write({ ...request, temperature: 2 }, written)
    expect(written).toEqual({ sampling: { maxTokens: 5, temperature: 1 }, stop_sequences: ['x'] })
    const empty: JsonObject = {}
    FIELDS.write(toRequest(), empty)
    expect(empty).toEqual({})
  })

  test('names a wrong value by its path', () => {
    const read = (body: JsonObject) => () => FIELDS.read(body, toRequest())
    expect(read({ sampling: { maxTokens: 0 } })).toThrow('sampling.maxTokens: must be at least 1.')
    expect(read({ sampling: 1 })).toThrow('sampling: must be an object.')
    expect(read({ sampling: { topP: null }, stop_sequences: null })).not.toThrow()
  })

  test('finds unknown fields in both, and takes null for absent', () => {
    expect(FIELDS.findUnknown({ messages: [], sampling: { topK: 1 } })).toBeUndefined()
    expect(FIELDS.findUnknown({ sampling: { topP: 1, other: 1 } })).toBe('sampling.other')
    expect(FIELDS.findUnknown({ other: null, another: 1 })).toBe('another')
  })

  test('an opaque field is unknown to findUnknown, and not lost at other formats', () => {
    expect(FIELDS.findUnknown({ betas: ['x'] })).toBe('betas')
    expect(FIELDS.listFormatSpecific({ betas: ['x'] })).toEqual([])
  })

  test('lists what only this format has, with paths', () => {
    const body = { sampling: { topK: 1, other: 1, topP: 1 }, another: 1 }
    expect(FIELDS.listFormatSpecific(body)).toEqual(['another', 'sampling.topK', 'sampling.other'])
  })

  test('spells parameters by their paths and knows what is missing', () => {
    expect([...FIELDS.spellings]).toEqual([
      ['temperature', 'sampling.temperature'],
      ['top_p', 'sampling.topP'],
      ['tool_choice', 'choice'],
      ['parallel_tool_calls', 'choice'],
      ['stop', 'stop_sequences'],
    ])
    const asked = toRequest({ topP: 0.5, parallelToolCalls: false, seed: 1, presencePenalty: 0 })
    expect(FIELDS.listUnsupported(asked)).toEqual(['seed'])
  })
})

describe('withoutNamed', () => {
  test('leaves out parameters by their names, and keeps the same object where none is set', () => {
    const request = toRequest({ topP: 0.5, seed: 1 })
    expect(withoutNamed(request, ['top_p', 'tools[0]'])).toEqual(toRequest({ seed: 1 }))
    expect(withoutNamed(request, ['stop', 'store'])).toBe(request)
  })
})
