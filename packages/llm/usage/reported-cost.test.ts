import { describe, expect, test } from 'vitest'
import { openAiChat } from '../formats/openai-chat/client/client.ts'
import { openAiResponses } from '../formats/openai-responses/client/client.ts'
import type { JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { custom } from '../providers/custom.ts'
import { PROVIDERS } from '../providers/index.ts'
import { hasRecordings, listAnswers, readAnswer } from '../testing/recorded-answers.ts'
import type { Target } from '../upstream/target.ts'
import { withReportedCost } from './reported-cost.ts'
import type { Usage } from './usage.ts'

const USAGE: Usage = { uncachedInput: 9, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 }

type Field = NonNullable<Provider['reportsCost']>

function at(field: Field | undefined, baseUrl = 'https://own.example/v1'): Target {
  const provider: Provider = {
    ...custom,
    baseUrl: 'https://own.example/v1',
    ...(field === undefined ? {} : { reportsCost: field }),
  }
  return { provider, model: 'm', baseUrl, apiKey: '' }
}

describe('withReportedCost', () => {
  test.each<[Field, JsonObject, number]>([
    ['usage.cost', { cost: 0.001081 }, 1_081_000],
    ['usage.cost', { cost: 0 }, 0],
    ['usage.cost', { cost: 0.0000000001 }, 1],
    [
      'usage.cost',
      { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } },
      210_000_000,
    ],
    ['usage.cost.total_cost', { cost: { total_cost: 0.00503 } }, 5_030_000],
    ['usage.cost_in_usd_ticks', { cost_in_usd_ticks: 8_702_400 }, 870_240],
    ['usage.cost_in_usd_ticks', { cost_in_usd_ticks: 11 }, 2],
  ])('%s of %j is %i nano-dollars', (field, wire, nanos) => {
    expect(withReportedCost(USAGE, wire, at(field))).toEqual({ ...USAGE, reportedCostNanoUsd: nanos })
  })

  test.each<[string, Field, JsonObject]>([
    ['a negative', 'usage.cost', { cost: -0.5 }],
    ['an infinite', 'usage.cost', { cost: Number.POSITIVE_INFINITY }],
    ['an absurd', 'usage.cost', { cost: 1e9 }],
    ['a text', 'usage.cost', { cost: '0.1' }],
    ['an object where a number is meant', 'usage.cost', { cost: { total_cost: 0.1 } }],
    ['half of what two take', 'usage.cost', { cost: 0.01, is_byok: true }],
    ['another provider’s', 'usage.cost_in_usd_ticks', { cost: 0.1 }],
    ['a missing', 'usage.cost.total_cost', {}],
  ])('%s amount is none', (_, field, wire) => {
    expect(withReportedCost(USAGE, wire, at(field))).toEqual(USAGE)
  })

  test('ignores a cost of nothing that a custom server reports', () => {
    const wire = { cost: 0, cost_in_usd_ticks: 0 }
    expect(withReportedCost(USAGE, wire, at(undefined))).toEqual(USAGE)
    expect(withReportedCost(USAGE, wire, at('usage.cost', 'https://elsewhere.example/v1'))).toEqual(USAGE)
  })

  test('without usage there is no cost either', () => {
    expect(withReportedCost(undefined, { cost: 1 }, at('usage.cost'))).toBeUndefined()
  })
})

describe('what a provider says of its price is part of the usage', () => {
  const counters = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, cost: 0.002 }
  const responseCounters = { input_tokens: 9, output_tokens: 5, total_tokens: 14, cost: 0.002 }
  const expected = { ...USAGE, reportedCostNanoUsd: 2_000_000 }

  test('for a chat completion, plain and streamed', () => {
    const body = { choices: [], usage: counters }
    expect(openAiChat.decodeReply(body, at('usage.cost')).usage).toEqual(expected)
    expect(openAiChat.openStream(at('usage.cost')).decode(JSON.stringify(body))).toEqual([
      { type: 'usage', usage: expected },
    ])
  })

  test('for a response, plain and streamed', () => {
    const response = { status: 'completed', output: [], usage: responseCounters }
    expect(openAiResponses.decodeReply(response, at('usage.cost')).usage).toEqual(expected)
    const events = openAiResponses
      .openStream(at('usage.cost'))
      .decode(JSON.stringify({ type: 'response.completed', response }))
    expect(events).toContainEqual({ type: 'usage', usage: expected })
  })
})

if (!hasRecordings) console.log('0 recorded costs: the recordings of ../shared/wire are not there')

describe.skipIf(!hasRecordings)('recorded costs', () => {
  const reporting = PROVIDERS.filter(provider => provider.reportsCost !== undefined)

  test.each(reporting.map(provider => [provider.id, provider] as const))(
    '%s: every recorded answer that names a cost bears it, and the like of what its tokens cost',
    (id, provider) => {
      let costs = 0
      for (const format of [openAiChat, openAiResponses]) {
        for (const path of listAnswers(format.id, 'unary')) {
          if (!path.startsWith(`${id}/`)) continue
          const body = toObject(readAnswer(path, 'sse').json)
          if (!/"(?:cost|total_cost|cost_in_usd_ticks)":\s*[0-9]/.test(JSON.stringify(body ?? null))) continue
          const target = { provider, model: 'm', baseUrl: provider.baseUrl ?? '', apiKey: '' }
          const usage = format.decodeReply(body ?? {}, target).usage
          if (usage === undefined) continue
          costs++
          const cost = usage.reportedCostNanoUsd ?? -1
          // Between nothing, for models that are free, and a dollar.
          expect(cost).toBeGreaterThanOrEqual(0)
          expect(cost).toBeLessThan(1_000_000_000)
        }
      }
      expect(costs).toBeGreaterThan(4)
    },
  )
})
