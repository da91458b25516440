import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { measureMs } from '../../../testing/measure-ms.ts'
import { readSettings } from './read-settings.ts'

const COMPACTS = [{ type: 'compaction' }]
const BETA = 'context-1m-2025-08-07'
const NOTHING = { compaction: undefined, raisesWindow: false }

test.each<[string, JsonObject, string]>([
  ['a list', { context_management: [{ type: 'clear_x' }, ...COMPACTS] }, 'context_management[1]'],
  ['edits', { context_management: { edits: COMPACTS } }, 'context_management.edits[0]'],
  ['edits of another form', { context_management: { edits: 'all' } }, 'context_management.edits'],
  ['another field of it', { context_management: { edits: [], compact: true } }, 'context_management'],
  ['a flag', { context_management: true }, 'context_management'],
  ['lists of objects', { a: [[], [{ contextManagement: COMPACTS }]] }, 'a[1][0].contextManagement[0]'],
  ['a name with a dot', { 'a.b': { context_management: COMPACTS } }, '["a.b"].context_management[0]'],
  ['a nested name', { 'x[context_management]': COMPACTS }, '["x[context_management]"][0]'],
  ['JSON in a text', { a: JSON.stringify({ context_management: COMPACTS }) }, 'a.context_management[0]'],
  ['a text that is not read', { context_management: '{a:1}' }, 'context_management'],
  ['a field after betas', { betas: [BETA], z: { context_management: COMPACTS } }, 'z.context_management[0]'],
])('compaction is found in %s', (_where, body, compaction) => {
  expect(readSettings(body)).toMatchObject({ compaction })
})

test('the path is that of the first compaction', () => {
  const body = {
    a: { context_management: COMPACTS, b: { context_management: true } },
    context_management: true,
  }
  expect(readSettings(body).compaction).toBe('a.context_management[0]')
})

test.each<[string, JsonObject]>([
  ['a list', { betas: ['files-api-2025-04-14', BETA] }],
  ['a text of several', { anthropic_beta: `files-api-2025-04-14, ${BETA.toUpperCase()}` }],
  ['a text after one that speaks of the context', { betas: `context-management-2025-06-27,${BETA}` }],
  ['the options of a provider', { provider_options: { bedrock: { additional: { anthropicBeta: [BETA] } } } }],
  ['a field after compaction', { context_management: COMPACTS, z: [{ betas: [BETA] }] }],
  ['a text that is not read', { betas: '{a:1}' }],
])('a beta that raises the window is found in %s', (_where, body) => {
  expect(readSettings(body).raisesWindow).toBe(true)
})

test.each<[string, Json]>([
  ['edits that clear', { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
  ['other betas', { betas: ['context-management-2025-06-27', ' model-context-window-exceeded-2025-08-26'] }],
  ['null', { context_management: null, betas: null }],
  ['a number', { context_management: 1, betas: 1 }],
  ['a message', { messages: [{ context_management: COMPACTS }], instructions: `{"betas":["${BETA}"]}` }],
  ['a prompt', { prompt: JSON.stringify({ context_management: COMPACTS, betas: [BETA] }) }],
  ['a schema', { guided_json: { properties: { context_management: { type: 'array' } } } }],
  ['structured outputs', { extra_body: { structured_outputs: { json: { context_management: {} } } } }],
])('nothing is found in %s', (_where, body) => {
  expect(readSettings(body as JsonObject)).toEqual(NOTHING)
})

describe('a body of megabytes', () => {
  const nest = (depth: number, value: Json): Json => (depth === 0 ? value : nest(depth - 1, [value]))
  const numbers = (count: number): Json => Array.from({ length: count }, (_, at) => at % 10)
  const named = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`name_${at}`, at]))

  /** The CPU time of the fastest of three readings, which find nothing: others on the machine slow some down. */
  const fastestMs = (body: JsonObject): number => {
    const times = [1, 2, 3].map(() => measureMs(() => expect(readSettings(body)).toEqual(NOTHING)))
    return Math.min(...times)
  }

  test.each<[string, Json]>([
    ['a list of numbers', numbers(1_000_000)],
    ['a list of fractions', Array.from({ length: 500_000 }, (_, at) => at + 0.5)],
    ['lists of numbers', Array.from({ length: 30_000 }, () => numbers(30))],
    ['lists of numbers at any depth', Array.from({ length: 1_000 }, () => nest(60, numbers(900)))],
    ['objects of numbers', Array.from({ length: 20_000 }, () => ({ a_x: 1, b_x: 2 }))],
    ['numbers with names', named(20_000)],
  ])('of %s is read at once', (_what, unknown) => {
    expect(fastestMs({ unknown })).toBeLessThan(15)
  })

  test.each([
    ['that could each be many nested ones', '.b'.repeat(94)],
    ['in other letters', `${'mäxſ'.repeat(11)}.`.repeat(4)],
  ])('of many names %s is read at once, and may ask for anything', (_, form) => {
    const names = Array.from({ length: 60_000 }, (_each, at) => [`z${at}${form}`, true])
    const unknown = Object.fromEntries(names) as JsonObject
    const usedMs = measureMs(() => {
      expect(readSettings({ unknown })).toEqual({
        compaction: expect.stringContaining('unknown'),
        raisesWindow: true,
      })
    })
    expect(usedMs).toBeLessThan(150)
  })

  test('of one name that could be many nested ones is read at once', () => {
    expect(fastestMs({ [`a${'.b'.repeat(1_000_000)}`]: true })).toBeLessThan(15)
    expect(fastestMs({ betas: ','.repeat(2_000_000) })).toBeLessThan(50)
  })
})
