import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message } from '../../testing/fakes/scripted-anthropic.ts'
import { completion } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { FORMAT_TARGETS } from '../../testing/harness/format-targets.ts'

/** Hints for a provider's records, its cache and its scale are named wherever the target does not get them as they were. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const TARGETS = Object.keys(FORMAT_TARGETS)
const MARK = { type: 'ephemeral' }
const FN = { name: 'f', parameters: { type: 'object', properties: {} } }

const listNames = (dropped: string | null): string[] => (dropped ?? '').split(', ').filter(Boolean).sort()

interface HintCase {
  readonly surface: string
  readonly what: string
  readonly fields: Record<string, unknown>
  readonly names: readonly string[]
  /** Targets that get the fields, besides those of the caller's format. */
  readonly takenBy?: readonly string[]
}

const OPENAI_RECORDS = {
  metadata: { team: 'a' },
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  safety_identifier: 's',
}

const CASES: readonly HintCase[] = [
  {
    surface: 'openai-chat',
    what: 'metadata, a cache key and an identifier',
    fields: OPENAI_RECORDS,
    names: Object.keys(OPENAI_RECORDS),
    takenBy: ['openai-responses'],
  },
  {
    surface: 'openai-responses',
    what: 'metadata, a cache key and an identifier',
    fields: { ...OPENAI_RECORDS, client_metadata: { a: 'b' } },
    names: [...Object.keys(OPENAI_RECORDS), 'client_metadata'],
  },
  {
    surface: 'openai-chat',
    what: 'marks of caching',
    fields: { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: MARK }] }] },
    names: ['cache_control'],
    takenBy: ['anthropic-messages', 'bedrock-converse'],
  },
  {
    surface: 'openai-responses',
    what: 'marks of caching',
    fields: { input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi', cache_control: MARK }] }] },
    names: ['cache_control'],
  },
  {
    surface: 'anthropic-messages',
    what: 'metadata',
    fields: { metadata: { user_id: 'u' } },
    names: ['metadata'],
  },
  {
    surface: 'anthropic-messages',
    what: 'the mark of the whole request',
    fields: { cache_control: MARK },
    names: ['cache_control'],
  },
  {
    surface: 'anthropic-messages',
    what: 'marks of instructions, parts and tools',
    fields: {
      system: [{ type: 'text', text: 's', cache_control: MARK }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: MARK }] }],
      tools: [{ name: 'f', input_schema: FN.parameters, cache_control: MARK }],
    },
    names: ['cache_control'],
    takenBy: ['bedrock-converse'],
  },
  {
    surface: 'anthropic-messages',
    what: 'the mark of a tool alone',
    fields: { tools: [{ name: 'f', input_schema: FN.parameters, cache_control: MARK }] },
    names: ['cache_control'],
    takenBy: ['bedrock-converse'],
  },
  {
    surface: 'bedrock-converse',
    what: 'metadata',
    fields: { requestMetadata: { a: 'b' } },
    names: ['requestMetadata'],
  },
  {
    surface: 'bedrock-converse',
    what: 'a cache point',
    fields: { messages: [{ role: 'user', content: [{ text: 'hi' }, { cachePoint: { type: 'default' } }] }] },
    names: ['cachePoint'],
    takenBy: ['anthropic-messages'],
  },
  { surface: 'gemini-content', what: 'labels', fields: { labels: { a: 'b' } }, names: ['labels'] },
]

/** Fields that are named by no target. */
const SILENT: readonly [string, Record<string, unknown>][] = [
  // The gateway's own field: no provider is meant.
  ['native', { metadata: { team: 'a' } }],
  ['openai-chat', { metadata: {}, prompt_cache_key: null, safety_identifier: null }],
  ['openai-responses', { metadata: {}, prompt_cache_key: null, reasoning: { summary: null } }],
  ['anthropic-messages', { metadata: { user_id: null }, cache_control: null }],
  ['bedrock-converse', { requestMetadata: {} }],
  ['gemini-content', { labels: {} }],
  ['openai-chat', { user: 'u', store: false, n: 1, logprobs: false, presence_penalty: 0 }],
]

describe.each(['refuse', 'drop'])('with unsupported_params %s', setting => {
  beforeAll(() => harness.set({ unsupported_params: setting }))

  describe.each(CASES)('$what of $surface', ({ surface, fields, names, takenBy = [] }) => {
    test.each(TARGETS)('to %s', async target => {
      const { status, dropped, sent } = await harness.send(surface, target, fields)
      expect(status).toBe(200)
      const isTaken = target === surface || takenBy.includes(target)
      expect(listNames(dropped)).toEqual(isTaken ? [] : [...names].sort())
      if (target === surface) expect(sent[0]).toMatchObject(fields)
    })
  })

  test.each(SILENT)('nothing is named of %s: %j', async (surface, fields) => {
    for (const target of TARGETS) {
      const { status, dropped } = await harness.send(surface, target, fields)
      expect([target, status, dropped]).toEqual([target, 200, null])
    }
  })
})

describe('a summary of reasoning', () => {
  const THINKERS = ['openai-responses', 'anthropic-messages', 'gemini-content', 'bedrock-converse']

  test.each(THINKERS)('is named apart from the effort, which is sent: %s', async target => {
    const reasoning = { effort: 'high', summary: 'auto' }
    const { status, dropped, sent } = await harness.send('openai-responses', target, {
      reasoning,
      max_output_tokens: 8000,
    })
    const isSame = target === 'openai-responses'
    expect([status, dropped]).toEqual([200, isSame ? null : 'reasoning.summary'])
    if (isSame) expect(sent[0]).toMatchObject({ reasoning })
    else expect(JSON.stringify(sent[0])).toMatch(/thinking/i)
  })
})

describe('a temperature above the scale of the target', () => {
  const TAKES = ['anthropic-messages', 'bedrock-converse']

  test.each([
    ['openai-chat', { temperature: 1.5 }, 'temperature'],
    ['native', { temperature: 1.5 }, 'temperature'],
    ['openai-responses', { temperature: 1.5 }, 'temperature'],
    [
      'gemini-content',
      { generationConfig: { temperature: 1.5, maxOutputTokens: 64 } },
      'generationConfig.temperature',
    ],
    ['cohere-v2', { temperature: 1.2 }, 'temperature'],
    ['ollama-chat', { options: { temperature: 1.5 } }, 'options.temperature'],
  ])('of %s is named, and the nearest value is sent', async (surface, fields, name) => {
    for (const target of TAKES) {
      const { status, dropped, sent } = await harness.send(surface, target, fields)
      expect([target, status, dropped]).toEqual([target, 200, name])
      const { temperature, inferenceConfig } = sent[0] as { temperature?: number; inferenceConfig?: any }
      expect(temperature ?? inferenceConfig?.temperature).toBe(1)
    }
    const { dropped } = await harness.send(surface, 'openai-chat', fields)
    expect(dropped).toBeNull()
  })

  test.each([0, 0.7, 1])('is not %d', async temperature => {
    for (const target of TAKES) {
      const { dropped } = await harness.send('openai-chat', target, { temperature })
      expect([target, dropped]).toEqual([target, null])
    }
  })

  test('is the provider’s to judge in its own format', async () => {
    const { dropped, sent } = await harness.send('anthropic-messages', 'anthropic-messages', {
      temperature: 1.5,
    })
    expect([dropped, sent[0]?.temperature]).toEqual([null, 1.5])
  })

  test('is not sent where the model takes none', async () => {
    harness.upstream.script(message([{ type: 'text', text: 'x' }]))
    const response = await harness.app.call('/v1/chat', {
      model: 'anthropic/claude-opus-4-8',
      messages: [{ role: 'user', content: 'hi' }],
      temperature: 1.5,
    })
    await response.text()
    expect(response.headers.get('x-rideau-dropped-params')).toBe('temperature')
    expect(harness.upstream.requests.at(-1)?.body).not.toHaveProperty('temperature')
  })
})

test('options for another provider are not named', async () => {
  const { dropped } = await harness.send('native', 'gemini-content', {
    provider_options: { anthropic: { cache_control: MARK } },
  })
  expect(dropped).toBeNull()
})

test('the log has the names of the header', async () => {
  harness.upstream.script(completion('x'))
  const response = await harness.app.call('/anthropic/v1/messages', {
    model: 'groq/llama-3.3-70b-versatile',
    max_tokens: 10,
    metadata: { user_id: 'u' },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: MARK }] }],
  })
  await response.text()
  expect(response.headers.get('x-rideau-dropped-params')).toBe('metadata, cache_control')
  const log = await harness.app.findLog(response.headers.get('x-request-id') ?? '')
  expect(log.dropped_params).toEqual(['metadata', 'cache_control'])
  expect(log.user).toBe('u')
})
