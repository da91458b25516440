import { measureMs } from '@rideau/llm/testing/measure-ms'
import { expect, test } from 'vitest'
import { type HttpPart, toSchemaFault } from './schema-fault.ts'
import { z } from './zod.ts'

const SCHEMA = z.strictObject({
  name: z.string(),
  limit_usd: z.number().optional(),
  restrictions: z.strictObject({ allowed_models: z.array(z.string()) }).optional(),
  targets: z.array(z.strictObject({ model: z.string() })).optional(),
})

function refuse(data: unknown, part: HttpPart = 'body'): string {
  const { error } = z.safeParse(SCHEMA, data)
  if (error === undefined) return 'accepted'
  const { code, param } = toSchemaFault(error, { schema: SCHEMA, data, part })
  return `${code} ${param}`
}

test.each<[object, string]>([
  [{ Limit_usd: 1 }, 'Limit_usd'],
  [{ other: 1, Other: 1, Limit_usd: 1 }, 'Limit_usd'],
  [{ name: undefined, Name: 'n' }, 'Name'],
  [{ limit_usd: 1, LIMIT_USD: 2 }, 'LIMIT_USD'],
  [{ restrictions: { Allowed_Models: [] } }, 'restrictions.Allowed_Models'],
  [{ targets: [{ model: 'a' }, { Model: 'b' }] }, 'targets[1].Model'],
])('%j with a known field in another case is request_validation_failed', (fields, param) => {
  expect(refuse({ name: 'n', ...fields })).toBe(`request_validation_failed ${param}`)
})

test.each<[object, string]>([
  [{ limit: 1 }, 'limit'],
  [{ Limit: 1 }, 'Limit'],
  [{ Allowed_models: [] }, 'Allowed_models'],
  [{ restrictions: { allowed_models: [], Name: 'a' } }, 'restrictions.Name'],
  [{ Constructor: 1 }, 'Constructor'],
  [JSON.parse('{ "__PROTO__": 1 }') as object, '__PROTO__'],
])('%j with an unknown field is invalid_request', (fields, param) => {
  expect(refuse({ name: 'n', ...fields })).toBe(`invalid_request ${param}`)
})

test('a query parameter that the schema does not know is request_validation_failed', () => {
  expect(refuse({ name: 'n', Limit_usd: 1 }, 'querystring')).toBe('request_validation_failed Limit_usd')
})

test('thousands of unknown fields in another case are looked up by a table', () => {
  const names = Array.from({ length: 9_900 }, (_, at) => `Name${at}`)
  const target = Object.fromEntries(names.map(name => [name, null]))
  let answer = ''
  const usedMs = measureMs(() => (answer = refuse({ name: 'n', targets: [{ model: 'a', ...target }] })))
  expect(answer).toBe('invalid_request targets[0].Name0')
  expect(usedMs).toBeLessThan(100)
})
