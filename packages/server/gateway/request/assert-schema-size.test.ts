import { parseRequest } from '@rideau/llm/formats/openai-responses/server/parse-request'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { measureMs } from '@rideau/llm/testing/measure-ms'
import { expect, test } from 'vitest'
import { assertSchemaSize } from './assert-schema-size.ts'

const MiB = 1_048_576

function parse(schema: JsonObject): ParsedChat {
  const format = { type: 'json_schema', name: 'a', schema }
  const value = { model: 'm', input: 'x', text: { format } } as unknown as JsonObject
  const source = { format: 'openai-responses' as const, bytes: Buffer.alloc(0), value, fields: new Map() }
  return parseRequest(value, { source, isEndUser: false })
}

test.each<[string, () => JsonObject]>([
  ['texts', () => ({ type: 'string', pattern: Buffer.alloc(31 * MiB, 'a').toString('latin1') })],
  ['numbers', () => ({ enum: Array.from({ length: 900_000 }, (_, at) => at / 7) })],
])('refuses a schema of many %s by its own name, and reads no more of it than it may have', (_, make) => {
  const parsed = parse(make())
  const usedMs = measureMs(() => {
    expect(() => assertSchemaSize(parsed)).toThrow(/^text\.format: must have a JSON Schema of at most/)
  })
  expect(usedMs).toBeLessThan(20)
})

test('lets a schema of 10,000 properties pass, and a request without one', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => [`property_${at}`, { type: 'string' }])
  assertSchemaSize(parse({ type: 'object', properties: Object.fromEntries(names) }))
  assertSchemaSize({ request: { ...parse({}).request, responseFormat: { type: 'text' } } })
})
