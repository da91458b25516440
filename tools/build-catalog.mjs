// Writes catalog/<provider>.json from two public model lists (models.dev and litellm's, both MIT), which have to lie in
// ../shared/catalog. The sandbox's file is written by hand. Run it, then `biome format --write catalog`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('..', import.meta.url).pathname
const read = name => JSON.parse(readFileSync(join(root, '../shared/catalog', name), 'utf8'))
const modelsDev = read('models-dev.json')
const litellm = read('litellm-model_prices_2026-06-04.json')

const SOURCE =
  'https://models.dev and https://github.com/BerriAI/litellm (model_prices_and_context_window.json), both MIT'
const DATE = '2026-07-02'

/** Our provider id → its name in each list, and the prefix that litellm puts before the model's. */
const PROVIDERS = {
  openai: { dev: 'openai', lite: ['openai'], prefix: '' },
  groq: { dev: 'groq', lite: ['groq'], prefix: 'groq/' },
  mistral: { dev: 'mistral', lite: ['mistral'], prefix: 'mistral/' },
  deepseek: { dev: 'deepseek', lite: ['deepseek'], prefix: 'deepseek/' },
  xai: { dev: 'xai', lite: ['xai'], prefix: 'xai/' },
  together: { dev: 'togetherai', lite: ['together_ai'], prefix: 'together_ai/' },
  fireworks: {
    dev: 'fireworks-ai',
    lite: ['fireworks_ai-embedding-models'],
    prefix: 'fireworks_ai/',
  },
  openrouter: { dev: 'openrouter', lite: [], prefix: 'openrouter/' },
}

/** Moderation classifiers, and models that no text chat reaches. */
const NO_CHAT = /guard|whisper|orpheus|safeguard|deep-research|-audio|-realtime|-search-|-transcribe|-tts/
/** They take `json_object`, which the lists' flag (for schemas) leaves out. */
const JSON_MODE_ONLY = /^gpt-(3\.5-turbo|4-turbo|4-(0125|1106)-preview)/

for (const [id, names] of Object.entries(PROVIDERS)) {
  const models = new Map()
  for (const model of Object.values(modelsDev[names.dev].models)) add(models, fromModelsDev(model, names))
  for (const [name, entry] of Object.entries(litellm)) {
    if (!names.lite.includes(entry.litellm_provider)) continue
    const model = name.startsWith(names.prefix) ? name.slice(names.prefix.length) : name
    add(models, fromLitellm(model, entry))
  }
  const file = {
    provider: id,
    source: SOURCE,
    date: DATE,
    models: [...models.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
  writeFileSync(join(root, 'catalog', `${id}.json`), `${JSON.stringify(file, null, 2)}\n`)
  console.log(id, models.size, models.get('gpt-4o-mini') === undefined ? '' : 'gpt-4o-mini')
}

/** The first list to name a model keeps it. */
function add(models, model) {
  if (model === undefined) return
  if (![...models.keys()].some(known => known.toLowerCase() === model.id.toLowerCase()))
    models.set(model.id, model)
}

function fromModelsDev(model, names) {
  if (NO_CHAT.test(model.id)) return undefined
  if (!model.modalities.output.includes('text') || !model.modalities.input.includes('text')) return undefined
  if (model.modalities.output.length > 1) return undefined
  const lite = litellm[names.prefix + model.id]
  // OpenAI serves some of its models on /responses only.
  if (lite?.mode === 'responses') return undefined
  if (/embed/.test(model.id)) return embedding(model.id, model.name, model.limit.context, model.cost)
  return {
    id: model.id,
    display_name: model.name,
    context_window: model.limit.context || null,
    max_output_tokens: model.limit.output || null,
    capabilities: [
      'chat',
      ...(model.tool_call ? ['tools'] : []),
      ...(model.structured_output === false && !JSON_MODE_ONLY.test(model.id) ? [] : ['response_format']),
      ...(model.modalities.input.includes('image') ? ['vision'] : []),
      ...(model.reasoning ? ['reasoning'] : []),
    ],
    pricing: toPricing(model.cost),
  }
}

function fromLitellm(id, entry) {
  if (NO_CHAT.test(id) || /^ft:|^openai\/|\/$/.test(id)) return undefined
  if (entry.deprecation_date !== undefined && entry.deprecation_date < DATE) return undefined
  const cost = {
    input: perMillion(entry.input_cost_per_token),
    output: perMillion(entry.output_cost_per_token),
    cache_read: perMillion(entry.cache_read_input_token_cost),
    cache_write: perMillion(entry.cache_creation_input_token_cost),
  }
  const over200k = perMillion(entry.input_cost_per_token_above_200k_tokens)
  if (over200k !== undefined) {
    cost.tiers = [
      {
        tier: { size: 200_000 },
        input: over200k,
        output: perMillion(entry.output_cost_per_token_above_200k_tokens),
      },
    ]
  }
  // The names of its size classes are no models.
  if (entry.mode === 'embedding' && !id.startsWith('together-ai-')) {
    return embedding(id, id, entry.max_input_tokens, { ...cost, output: 0 })
  }
  if (entry.mode !== 'chat' || id.startsWith('together-ai-')) return undefined
  return {
    id,
    display_name: id,
    context_window: entry.max_input_tokens ?? null,
    max_output_tokens: entry.max_output_tokens ?? null,
    capabilities: [
      'chat',
      ...(entry.supports_function_calling ? ['tools'] : []),
      // The list tells of schemas only; nearly every model takes `json_object`, but the first GPT-4 does not.
      ...(/^gpt-4(-0314|-0613|-32k.*)?$/.test(id) ? [] : ['response_format']),
      ...(entry.supports_vision ? ['vision'] : []),
      ...(entry.supports_reasoning ? ['reasoning'] : []),
    ],
    pricing: toPricing(cost),
  }
}

function embedding(id, name, context, cost) {
  return {
    id,
    display_name: name,
    context_window: context ?? null,
    max_output_tokens: null,
    capabilities: ['embeddings'],
    pricing: toPricing(cost),
  }
}

/** null: unknown. A list's zero is a gap or a trial, never a price to count on. */
function toPricing(cost) {
  if (!cost || !(cost.input > 0) || cost.output === undefined) return null
  const pricing = prices(cost, cost.input)
  const tier = cost.tiers?.[0]
  if (tier?.tier.size > 0 && tier.output !== undefined) {
    pricing.long_context = { over_input_tokens: tier.tier.size, ...prices(tier, tier.input) }
  }
  return pricing
}

function prices(cost, input) {
  const cacheRead = cost.cache_read ?? cost.cached_input
  return {
    input: rounded(input),
    output: rounded(cost.output),
    ...(cacheRead > 0 ? { cache_read: rounded(cacheRead) } : {}),
    ...(cost.cache_write > 0 ? { cache_write: rounded(cost.cache_write) } : {}),
  }
}

function perMillion(perToken) {
  return perToken === undefined ? undefined : rounded(perToken * 1e6)
}

/** Six decimals of a dollar: what costNanoUsd counts in. */
function rounded(price) {
  return Math.round(price * 1e6) / 1e6
}
