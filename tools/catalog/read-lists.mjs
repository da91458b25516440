// The three public lists, each read into the same shape: { id, name, kind, context, maxOutput, flags, price, ... } with
// prices in USD per million tokens and `undefined` for what a list does not have.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The day the newest of the three was read. A price that begins later is ignored. */
export const DATE = '2026-09-23'
/** The day models.dev was read: it does not have prices that began later. */
export const MODELS_DEV_DATE = '2026-07-02'

/** They take `json_object`, which the lists' flag (for schemas) leaves out. */
const JSON_MODE_ONLY = /^gpt-(3\.5-turbo|4-turbo|4-(0125|1106)-preview)/

export function readLists(folder) {
  const read = name => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  return {
    modelsDev: read('models-dev.json'),
    litellm: read('litellm-model_prices_2026-06-04.json'),
    genaiPrices: read('genai-prices-data.json'),
  }
}

/** models.dev: the best on capabilities, limits and kinds of reasoning. */
export function fromModelsDev(model) {
  const { input, output } = model.modalities
  const makesImages = output.includes('image')
  return {
    id: model.id,
    name: model.name,
    kind: /embed|bge-/.test(model.id) ? 'embedding' : makesImages ? 'image' : 'chat',
    isText: input.includes('text') && (output.includes('text') || makesImages) && !output.includes('audio'),
    isRetired: model.status === 'deprecated',
    context: model.limit.context || undefined,
    maxOutput: model.limit.output || undefined,
    tools: model.tool_call,
    responseFormat: model.structured_output !== false || JSON_MODE_ONLY.test(model.id),
    vision: input.includes('image'),
    reasoning: model.reasoning,
    inputs: ['pdf', 'audio', 'video'].filter(kind => input.includes(kind)),
    fixedSampling: model.temperature === false,
    ...reasoningOptions(model.reasoning_options ?? []),
    price: fromCost(model.cost),
  }
}

function reasoningOptions(options) {
  const efforts = options.find(option => option.type === 'effort')?.values?.filter(value => value !== null)
  const budget = options.find(option => option.type === 'budget_tokens')
  return {
    efforts: efforts?.length > 0 ? efforts : undefined,
    budget: budget && {
      ...(budget.min > 0 ? { min: budget.min } : {}),
      ...(budget.max > 0 ? { max: budget.max } : {}),
    },
  }
}

function fromCost(cost) {
  if (cost === undefined) return undefined
  const long = cost.tiers
    ?.filter(({ tier }) => tier.size > 0)
    .map(tier => ({ over: tier.tier.size, ...bucketsOf(tier) }))
  return { ...bucketsOf(cost), audio_input: cost.input_audio, long }
}

function bucketsOf(cost) {
  return {
    input: cost.input,
    output: cost.output,
    thinking_output: cost.reasoning,
    cache_read: cost.cache_read ?? cost.cached_input ?? cost.cache_input,
    cache_write: cost.cache_write ?? cost.cached_write,
  }
}

const KINDS = {
  chat: 'chat',
  embedding: 'embedding',
  image_generation: 'image',
  responses: 'responses',
  rerank: 'rerank',
}

/** litellm: the only list with embeddings, images and the one-hour cache. */
export function fromLitellm(id, entry) {
  return {
    id,
    name: id,
    kind: KINDS[entry.mode],
    isText: true,
    isRetired: entry.deprecation_date !== undefined && entry.deprecation_date < DATE,
    context: entry.max_input_tokens,
    maxOutput: entry.max_output_tokens,
    tools: entry.supports_function_calling === true,
    // The list covers schemas only; nearly every model accepts `json_object`, but the first GPT-4 does not.
    responseFormat: !/^gpt-4(-0314|-0613|-32k.*)?$/.test(id),
    vision: entry.supports_vision === true,
    reasoning: entry.supports_reasoning === true,
    inputs: [
      ...(entry.supports_pdf_input ? ['pdf'] : []),
      ...(entry.supports_audio_input ? ['audio'] : []),
      ...(entry.supports_video_input ? ['video'] : []),
    ],
    dimensions: entry.output_vector_size,
    price: litellmPrice(entry),
    image: litellmImagePrice(entry),
    rerank: litellmRerankPrice(entry),
  }
}

/** By the search, or by the token. */
function litellmRerankPrice(entry) {
  if (entry.input_cost_per_query > 0) return { per_search: entry.input_cost_per_query }
  return entry.input_cost_per_token > 0 ? { input: perMillion(entry.input_cost_per_token) } : undefined
}

function litellmPrice(entry) {
  const [first = entry, ...longer] = entry.tiered_pricing?.filter(({ range }) => range !== undefined) ?? []
  const at = (name, suffix = '') => perMillion(entry[`${name}${suffix}`])
  const price = {
    ...litellmBuckets(first),
    cache_write_1h: at('cache_creation_input_token_cost_above_1hr'),
    audio_input: at('input_cost_per_audio_token'),
    tiers: {},
    long: longer.map(tier => ({ over: tier.range[0], ...litellmBuckets(tier) })),
  }
  for (const tier of ['flex', 'priority']) {
    const input = at('input_cost_per_token', `_${tier}`)
    const output = at('output_cost_per_token', `_${tier}`)
    if (!(input > 0 && output > 0)) continue
    price.tiers[tier] = { input, output, cache_read: at('cache_read_input_token_cost', `_${tier}`) }
  }
  for (const size of [128, 200, 256, 272]) {
    const suffix = `_above_${size}k_tokens`
    const input = at('input_cost_per_token', suffix)
    if (input === undefined) continue
    price.long.push({
      over: size * 1000,
      input,
      output: at('output_cost_per_token', suffix),
      cache_read: at('cache_read_input_token_cost', suffix),
      cache_write: at('cache_creation_input_token_cost', suffix),
    })
  }
  return price
}

function litellmBuckets(prices) {
  return {
    input: perMillion(prices.input_cost_per_token),
    output: perMillion(prices.output_cost_per_token),
    thinking_output: perMillion(prices.output_cost_per_reasoning_token),
    cache_read: perMillion(prices.cache_read_input_token_cost),
    cache_write: perMillion(prices.cache_creation_input_token_cost),
  }
}

function litellmImagePrice(entry) {
  return {
    per_image:
      entry.output_cost_per_image ??
      (entry.mode === 'image_generation' ? entry.input_cost_per_image : undefined),
    text_input: perMillion(entry.input_cost_per_token),
    text_cache_read: perMillion(entry.cache_read_input_token_cost),
    image_input: perMillion(entry.input_cost_per_image_token),
    image_cache_read: perMillion(entry.cache_read_input_image_token_cost),
    text_output: perMillion(entry.output_cost_per_token),
    image_output: perMillion(entry.output_cost_per_image_token),
  }
}

/**
 * genai-prices: the newest prices, with the day each began. `exact`: the entry is about this very model, and not about
 * all with the same prefix. `since`: the day its price began, if the list has it.
 */
export function findGenaiPrice(provider, id) {
  const entry = provider?.models.find(model => matches(model.match, id))
  if (entry === undefined) return undefined
  const dated = Array.isArray(entry.prices) ? entry.prices : [{ prices: entry.prices }]
  const active = dated.filter(
    ({ constraint: from }) => from === undefined || (from.start_date ?? '9999') <= DATE,
  )
  const last = active.at(-1)
  if (last === undefined) return undefined
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, requests_kcount, input_audio_mtok } =
    last.prices
  const over = [input_mtok, output_mtok].map(price => price?.tiers?.[0]?.start).find(start => start > 0)
  const base = price => (typeof price === 'object' ? price.base : price)
  const above = price => (typeof price === 'object' ? price.tiers[0].price : price)
  const buckets = pick => ({
    input: pick(input_mtok),
    output: pick(output_mtok),
    cache_read: pick(cache_read_mtok),
    cache_write: pick(cache_write_mtok),
  })
  return {
    exact: entry.id === id || hasEquals(entry.match, id),
    since: last.constraint?.start_date,
    // A price that depends on the time of day is not one price.
    byTheHour: dated.some(({ constraint }) => constraint?.start_time !== undefined),
    context: entry.context_window,
    name: entry.name,
    price: {
      ...buckets(base),
      audio_input: base(input_audio_mtok),
      ...(requests_kcount > 0 ? { per_request: requests_kcount / 1000 } : {}),
      ...(over === undefined ? {} : { long: [{ over, ...buckets(above) }] }),
    },
  }
}

function matches(rule, id) {
  const name = id.toLowerCase()
  if (rule.or) return rule.or.some(one => matches(one, id))
  if (rule.and) return rule.and.every(one => matches(one, id))
  if (rule.equals !== undefined) return name === rule.equals.toLowerCase()
  if (rule.starts_with !== undefined) return name.startsWith(rule.starts_with.toLowerCase())
  if (rule.ends_with !== undefined) return name.endsWith(rule.ends_with.toLowerCase())
  if (rule.contains !== undefined) return name.includes(rule.contains.toLowerCase())
  if (rule.regex !== undefined) return new RegExp(rule.regex).test(name)
  return false
}

function hasEquals(rule, id) {
  return rule.or ? rule.or.some(one => hasEquals(one, id)) : rule.equals?.toLowerCase() === id.toLowerCase()
}

function perMillion(perToken) {
  return perToken === undefined ? undefined : perToken * 1e6
}
