import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import type { StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import { costNanoUsd } from '../../../usage/pricing.ts'
import type { Usage } from '../../../usage/usage.ts'
import { anthropicMessages } from '../../anthropic-messages/client/client.ts'
import { geminiContent } from '../../gemini-content/client/client.ts'
import { openAiResponses } from '../../openai-responses/client/client.ts'
import { findPriceOfType } from './hosted-tools.ts'

function toTarget(providerId: string, model: string): Target {
  const provider = findProvider(providerId)
  if (provider === undefined) throw new Error(`no provider ${providerId}`)
  return { provider, model, baseUrl: provider.baseUrl ?? '', apiKey: 'k' }
}

function usageOf(events: readonly StreamEvent[]): Usage | undefined {
  return events.findLast(event => event.type === 'usage')?.usage
}

const feed = (decoder: StreamDecoder, ...chunks: JsonObject[]): StreamEvent[] =>
  chunks.flatMap(chunk => decoder.decode(JSON.stringify(chunk)))

const CENT = 10_000_000

describe('the price of a tool that a provider runs', () => {
  test.each([
    ['openai', 'gpt-5.4', 'web_search', 0.01],
    ['openai', 'gpt-9-unheard-of', 'web_search', 0.01],
    ['openai', 'gpt-4.1-mini', 'web_search', 0.0132],
    ['azure', 'gpt-5.4', 'web_search_2025_08_26', 0.01],
    ['openai', 'gpt-5.4', 'web_search_preview', undefined],
    ['openai', 'gpt-5.4', 'image_generation', undefined],
    ['anthropic', 'claude-opus-4-8', 'web_search_20250305', 0.01],
    ['bedrock', 'claude-opus-4-8', 'web_search_20250305', undefined],
    ['vertex', 'claude-opus-4-8', 'web_search_20250305', 0.01],
    ['gemini', 'gemini-2.5-flash', 'googleSearch', 0.035],
    ['gemini', 'gemini-3.5-flash', 'googleSearch', 0.014],
    ['gemini', 'gemini-flash-latest', 'googleSearch', 0.035],
    ['gemini', 'gemini-3.5-flash', 'googleMaps', undefined],
    ['deepseek', 'deepseek-v4', 'web_search', undefined],
    ['groq', 'openai/gpt-oss-20b', 'browser_search', undefined],
  ])('for %s and %s: %s costs %s', (providerId, model, type, usd) => {
    const { provider } = toTarget(providerId, model)
    expect(findPriceOfType(provider, model, type)?.usd).toBe(usd)
  })

  test('every price has a source', () => {
    for (const id of ['openai', 'azure', 'anthropic', 'gemini', 'vertex', 'xai'])
      for (const { source } of findProvider(id)?.catalog?.hosted_tools ?? []) expect(source).not.toBe('')
  })

  test('is added to what tokens cost, and unknown with them', () => {
    const usage = { uncachedInput: 1000, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
    const hosted = { uses: 2, nanoUsd: 2 * CENT }
    expect(costNanoUsd({ ...usage, hosted }, { input: 1, output: 1 })).toBe(1_000_000 + 2 * CENT)
    expect(costNanoUsd({ ...usage, hosted }, null)).toBeNull()
  })
})

describe('uses in Responses', () => {
  const target = toTarget('openai', 'gpt-5.4')
  const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
  const call = (type?: string): JsonObject => ({
    type: 'web_search_call',
    ...(type === undefined ? {} : { action: { type } }),
  })
  const answer = (fields: JsonObject): JsonObject => ({
    id: 'r',
    status: 'completed',
    output: [],
    usage,
    ...fields,
  })
  const plain = (fields: JsonObject): Usage | undefined =>
    openAiResponses.decodeReply(answer(fields), target).usage

  test.each<[string, JsonObject, number | undefined]>([
    ['none', {}, undefined],
    [
      "the provider's count",
      { tool_usage: { web_search: { num_requests: 3 } }, output: [call('search')] },
      3,
    ],
    ['searches, not pages', { output: [call('search'), call('open_page'), call('search')] }, 2],
    [
      'searches, where the provider counts none',
      { tool_usage: { web_search: { num_requests: 0 } }, output: [call('search')] },
      1,
    ],
    [
      'searches, where the count is none',
      { tool_usage: { web_search: { num_requests: -4 } }, output: [call()] },
      1,
    ],
  ])('are %s', (_, fields, uses) => {
    const hosted = uses === undefined ? undefined : { uses, nanoUsd: uses * CENT }
    expect(plain(fields)?.hosted).toEqual(hosted)
    const streamed = feed(openAiResponses.openStream(target), {
      type: 'response.completed',
      response: answer(fields),
    })
    expect(usageOf(streamed)?.hosted).toEqual(hosted)
  })

  test('are containers by their ids', () => {
    const run = (id: string): JsonObject => ({ type: 'code_interpreter_call', container_id: id })
    expect(plain({ output: [run('a'), run('a'), run('b')] })?.hosted).toEqual({ uses: 2, nanoUsd: 6 * CENT })
  })

  test('are known if the stream breaks off', () => {
    const decoder = openAiResponses.openStream(target)
    feed(
      decoder,
      { type: 'response.output_item.added', output_index: 0, item: call() },
      { type: 'response.output_item.done', output_index: 0, item: call('search') },
      { type: 'response.output_item.added', output_index: 1, item: call() },
      { type: 'response.output_item.done', output_index: 1, item: call('open_page') },
      { type: 'response.output_item.added', output_index: 2, item: call() },
    )
    expect(decoder.partialUsage?.()?.hosted).toEqual({ uses: 2, nanoUsd: 2 * CENT })
  })

  test("are xAI's own counts, and xAI's own cost is the bill's", () => {
    const xai = toTarget('xai', 'grok-4.3')
    const details = { web_search_calls: 2, x_search_calls: 1 }
    const body = answer({
      usage: { ...usage, server_side_tool_usage_details: details, cost_in_usd_ticks: 5e8 },
    })
    expect(openAiResponses.decodeReply(body, xai).usage).toMatchObject({
      hosted: { uses: 3, nanoUsd: 1.5 * CENT },
      reportedCostNanoUsd: 5 * CENT,
    })
  })
})

describe('uses in Messages', () => {
  const target = toTarget('anthropic', 'claude-opus-4-8')
  const found = { type: 'web_search_tool_result', tool_use_id: 't', content: [{ type: 'web_search_result' }] }
  const failed = {
    ...found,
    content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
  }
  const usage = { input_tokens: 10, output_tokens: 2 }
  const searched = (count: number): JsonObject => ({
    ...usage,
    server_tool_use: { web_search_requests: count },
  })

  test.each<[JsonObject, JsonObject[], number | undefined]>([
    [usage, [failed], undefined],
    [searched(2), [found], 2],
    [searched(0), [failed], undefined],
    // A count of none beside results is not believed.
    [searched(0), [found, failed], 1],
    [usage, [found, found], 2],
  ])('with %j are counted', (reported, content, uses) => {
    const hosted = uses === undefined ? undefined : { uses, nanoUsd: uses * CENT }
    const body = { content, stop_reason: 'end_turn', usage: reported }
    expect(anthropicMessages.decodeReply(body, target).usage?.hosted).toEqual(hosted)
    const decoder = anthropicMessages.openStream(target)
    const events = feed(
      decoder,
      { type: 'message_start', message: { usage } },
      ...content.map((block, index) => ({ type: 'content_block_start', index, content_block: block })),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: reported },
    )
    expect(usageOf(events)?.hosted).toEqual(hosted)
    expect(decoder.partialUsage?.()?.hosted).toEqual(hosted)
  })
})

describe('uses in Gemini', () => {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
  const chunk = (queries: string[], fields: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { parts: [{ text: 'x' }] }, groundingMetadata: { webSearchQueries: queries } }],
    ...fields,
  })

  test.each<[string, string[], number | undefined]>([
    ['gemini-3.5-flash', ['a', 'b'], 28_000_000],
    ['gemini-3.5-flash', ['a', 'a'], 28_000_000],
    ['gemini-3.5-flash', [''], undefined],
    ['gemini-2.5-flash', ['a', 'b', 'c'], 35_000_000],
    ['gemini-2.5-flash', [], undefined],
  ])('for %s: %j cost %s', (model, queries, nanoUsd) => {
    const target = toTarget('gemini', model)
    const body = chunk(queries, { usageMetadata })
    expect(geminiContent.decodeReply(body, target).usage?.hosted?.nanoUsd).toBe(nanoUsd)
  })

  test('are all queries of a stream, each once, also in chunks without usage', () => {
    const decoder = geminiContent.openStream(toTarget('gemini', 'gemini-3.5-flash'))
    const events = feed(decoder, chunk(['a'], { usageMetadata }), chunk(['a', 'b']), chunk([]))
    expect(usageOf(events)).toMatchObject({ uncachedInput: 10, hosted: { uses: 2, nanoUsd: 28_000_000 } })
  })
})
