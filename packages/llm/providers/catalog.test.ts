import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { CatalogFile, CatalogModel } from '../provider/catalog-model.ts'
import { allModels, findModel, listModels, providersListing } from './catalog.ts'
import { PROVIDERS } from './index.ts'

const FOLDER = new URL('../../../catalog/', import.meta.url)
const CAPABILITIES = [
  'chat',
  'tools',
  'response_format',
  'vision',
  'reasoning',
  'embeddings',
  'images',
  'rerank',
  'transcription',
  'speech',
]
/** A model does one of these, and one for chat may write down what it hears. */
const KINDS = ['chat', 'embeddings', 'images', 'rerank', 'transcription', 'speech']

function checkPrice(price: number | undefined): void {
  if (price === undefined) return
  expect(price).toBeGreaterThan(0)
  // Half a cent a token: no model costs more, a list's slip by a factor does.
  expect(price).toBeLessThan(5000)
  expect(Math.round(price * 1e6) / 1e6).toBe(price)
}

function checkModel({
  id,
  display_name,
  capabilities,
  context_window,
  max_output_tokens,
  pricing,
  image_pricing,
  rerank_pricing,
  audio_pricing,
}: CatalogModel): void {
  expect(id).toMatch(/^[A-Za-z0-9@~][A-Za-z0-9._:/@~-]*$/)
  expect(display_name).not.toBe('')
  for (const capability of capabilities) expect(CAPABILITIES).toContain(capability)
  const kinds = capabilities.filter(it => KINDS.includes(it))
  expect(kinds).toHaveLength(kinds.join() === 'chat,transcription' ? 2 : 1)
  for (const limit of [context_window, max_output_tokens]) {
    expect(limit === null || (Number.isSafeInteger(limit) && limit > 0)).toBe(true)
  }
  for (const prices of [pricing, ...(pricing?.long_context ?? []), ...Object.values(pricing?.tiers ?? {})]) {
    if (!prices) continue
    checkPrice(prices.input)
    if (!capabilities.includes('embeddings')) checkPrice(prices.output)
    checkPrice(prices.thinking_output)
    checkPrice(prices.cache_read)
    checkPrice(prices.cache_write)
    checkPrice(prices.cache_write_1h)
  }
  // Longer input never costs less: the threshold's sides would be swapped.
  let shorter = { over_input_tokens: 0, input: pricing?.input ?? 0 }
  for (const longer of pricing?.long_context ?? []) {
    expect(longer.over_input_tokens).toBeGreaterThan(shorter.over_input_tokens)
    expect(longer.input).toBeGreaterThan(shorter.input)
    shorter = longer
  }
  const { flex, priority } = pricing?.tiers ?? {}
  if (pricing && flex) expect(flex.input).toBeLessThan(pricing.input)
  if (pricing && priority) expect(priority.input).toBeGreaterThan(pricing.input)
  for (const price of Object.values(image_pricing ?? {})) checkPrice(price)
  for (const price of Object.values(rerank_pricing ?? {})) checkPrice(price)
  for (const price of Object.values(audio_pricing ?? {})) checkPrice(price)
}

describe('the catalogue', () => {
  test('the names of one model at a provider have the same price of a long context if their usual price is the same', () => {
    const nameOf = (id: string): string => id.replace(/@default$|[@-]\d{8}$|-\d{4}-\d{2}-\d{2}$|-0$/, '')
    for (const { id, catalog } of PROVIDERS) {
      const prices = new Map<string, string>()
      for (const { id: model, pricing } of catalog?.models ?? []) {
        if (!pricing) continue
        const name = [nameOf(model), pricing.input, pricing.output].join()
        const tiers = pricing.long_context?.map(({ over_input_tokens, input, output }) => [
          over_input_tokens,
          input,
          output,
        ])
        const long = JSON.stringify(tiers ?? [])
        expect([id, model, prices.get(name) ?? long]).toEqual([id, model, long])
        prices.set(name, long)
      }
    }
  })

  test.each(
    PROVIDERS.filter(({ catalog }) => catalog !== undefined).map(
      provider => [provider.id, provider] as const,
    ),
  )('%s: every model well formed, ordered by id, named once, with its source and date', (id, { catalog }) => {
    expect(catalog?.provider).toBe(id)
    expect(catalog?.source).not.toBe('')
    expect(catalog?.date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    const models = catalog?.models ?? []
    expect(models.length).toBeGreaterThan(0)
    for (const model of models) checkModel(model)
    const ids = models.map(model => model.id)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)))
  })

  test('every provider with a catalogue has a file of its name, and all together stay under 400 KB', () => {
    const files = readdirSync(FOLDER).filter(name => name.endsWith('.json'))
    const named = files.map(name => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).provider)
    expect(files).toEqual(named.map(id => `${id}.json`))
    for (const { id, catalog } of PROVIDERS) if (catalog !== undefined) expect(named).toContain(id)
    const bytes = files.reduce((sum, name) => sum + statSync(new URL(name, FOLDER)).size, 0)
    expect(bytes).toBeLessThan(400_000)
  })

  test('has the most used models with prices', () => {
    expect(findModel('openai', 'gpt-4o-mini')).toMatchObject({
      context_window: 128_000,
      capabilities: ['chat', 'tools', 'response_format', 'vision'],
      pricing: { input: 0.15, output: 0.6, cache_read: 0.075 },
    })
    for (const [provider, model] of [
      ['openai', 'gpt-4o'],
      ['openai', 'gpt-4.1'],
      ['openai', 'gpt-5'],
      ['openai', 'text-embedding-3-small'],
      ['groq', 'llama-3.3-70b-versatile'],
      ['mistral', 'mistral-large-latest'],
      ['deepseek', 'deepseek-chat'],
      ['xai', 'grok-4'],
      ['sandbox', 'echo'],
    ] as const) {
      expect({ model, isPriced: findModel(provider, model)?.pricing != null }).toEqual({
        model,
        isPriced: true,
      })
    }
  })

  test('at least 400 models, of every company that has a catalog', () => {
    expect(allModels().length).toBeGreaterThan(400)
    for (const { catalog, name } of PROVIDERS) {
      if (catalog) expect({ name, isEmpty: catalog.models.length === 0 }).toEqual({ name, isEmpty: false })
    }
  })

  test.each([
    // https://openai.com/api/pricing
    ['openai', 'gpt-5', { input: 1.25, output: 10, cache_read: 0.125 }],
    ['openai', 'text-embedding-3-small', { input: 0.02, output: 0 }],
    // https://developers.openai.com/api/docs/guides/prompt-caching: written at 1.25 times the price of input.
    ['openai', 'gpt-5.6-sol', { input: 5, output: 30, cache_write: 6.25 }],
    // https://docs.claude.com/en/docs/about-claude/pricing: kept for an hour at twice the price of input.
    [
      'anthropic',
      'claude-haiku-4-5',
      { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2 },
    ],
    // https://www.anthropic.com/news/claude-sonnet-5: the price since 2026-09-01, which two of the lists do not have.
    [
      'anthropic',
      'claude-sonnet-5',
      { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 },
    ],
    // https://docs.perplexity.ai/getting-started/pricing: each request searches, at a fee (here for its largest context).
    ['perplexity', 'sonar', { input: 1, output: 1, per_request: 0.012 }],
    ['openrouter', 'perplexity/sonar-pro', { input: 3, output: 15, per_request: 0.014 }],
    // https://aws.amazon.com/bedrock/pricing: a region's own endpoint costs a tenth more than the global one.
    ['bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0', { input: 1.1, output: 5.5 }],
    // https://ai.google.dev/gemini-api/docs/pricing: two prices, by the length of the prompt.
    [
      'gemini',
      'gemini-2.5-pro',
      {
        input: 1.25,
        output: 10,
        long_context: [{ over_input_tokens: 200_000, input: 2.5, output: 15, cache_read: 0.25 }],
      },
    ],
    // https://www.alibabacloud.com/help/en/model-studio/model-pricing: by the length of the input, and dearer where the model thinks.
    [
      'alibaba',
      'qwen3-max',
      {
        input: 1.2,
        output: 6,
        long_context: [
          { over_input_tokens: 32_000, input: 2.4, output: 12 },
          { over_input_tokens: 128_000, input: 3, output: 15 },
        ],
      },
    ],
    ['alibaba', 'qwen-plus', { input: 0.4, output: 1.2, thinking_output: 4 }],
  ])('%s %s costs what its maker says', (provider, model, pricing) => {
    const file = JSON.parse(readFileSync(new URL(`${provider}.json`, FOLDER), 'utf8')) as CatalogFile
    expect(file.models.find(({ id }) => id === model)?.pricing).toMatchObject(pricing)
  })

  test('a model that searches as often as it likes has no price, since nothing bounds what a request costs', () => {
    expect(findModel('perplexity', 'sonar-deep-research')?.pricing).toBeNull()
    expect(findModel('openrouter', 'perplexity/sonar-deep-research')?.pricing).toBeNull()
    expect(findModel('openrouter', 'perplexity/sonar-pro-search')?.pricing).toBeNull()
  })

  test('an image is priced by the piece or by its tokens', () => {
    const imagePrices = (provider: string, model: string) =>
      (JSON.parse(readFileSync(new URL(`${provider}.json`, FOLDER), 'utf8')) as CatalogFile).models.find(
        ({ id }) => id === model,
      )?.image_pricing
    expect(imagePrices('openai', 'gpt-image-1')).toMatchObject({
      text_input: 5,
      image_input: 10,
      image_output: 40,
    })
    expect(imagePrices('gemini', 'imagen-4.0-generate-001')).toEqual({ per_image: 0.04 })
  })

  test('finds no model that no provider lists', () => {
    expect(findModel('openai', 'nothing')).toBeUndefined()
    expect(findModel('openai', '__proto__')).toBeUndefined()
    expect(findModel('nobody', 'gpt-4o')).toBeUndefined()
    expect(listModels('custom-x')).toEqual([])
  })

  test('a bare name is listed by its makers and hosts, never by a provider that takes any name', () => {
    expect(providersListing('gpt-4o')).toEqual(['openai', 'azure'])
    expect(providersListing('openai/gpt-oss-120b')).toEqual(['groq', 'together', 'nvidia'])
    expect(providersListing('nothing')).toEqual([])
  })

  test('allModels is every list together', () => {
    expect(allModels()).toHaveLength(PROVIDERS.reduce((sum, { id }) => sum + listModels(id).length, 0))
  })
})
