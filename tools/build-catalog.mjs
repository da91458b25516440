// Writes catalog/<provider>.json from three public model lists (models.dev, litellm's and genai-prices', all MIT), which
// must be in ../shared/catalog, and docs/catalog-report.md: where the lists disagree on a price, and which price was chosen.
// The sandbox's file is written by hand.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOSTED_TOOLS } from './catalog/hosted-tools.mjs'
import { mergePrices, rounded } from './catalog/merge-prices.mjs'
import { completeByOtherNames } from './catalog/other-names.mjs'
import { IMAGE_OUTPUT, PROVIDERS, RERANKERS, SEARCH_FEES, SUCCESSORS } from './catalog/provider-lists.mjs'
import { DATE, findGenaiPrice, fromLitellm, fromModelsDev, readLists } from './catalog/read-lists.mjs'

const root = new URL('..', import.meta.url).pathname
const { modelsDev, litellm, genaiPrices } = readLists(join(root, '../shared/catalog'))

const SOURCE =
  'https://models.dev (2026-07-02), https://github.com/BerriAI/litellm (model_prices_and_context_window.json, 2026-06-04), https://github.com/pydantic/genai-prices (2026-09-23), all MIT'

/** Classifiers, and models that no text chat, embedding or image request reaches. */
const UNREACHED =
  /guard|whisper|orpheus|o\d.*deep-research|deep-research-pro|lyria|learnlm|-audio|-realtime|-search-|-transcribe|-tts|safety|-live-|live-\d|robotics|computer-use|rerank|translate-4b|sonic|voxtral|gliner|omni-|voicechat|multimodalembedding|marengo|pegasus|detect|-ocr|esm|cosmos|studiovoice|usd|sparsedrive|bevformer|streampetr|paligemma|medlm|customtools|embed-image|multimodal-emb|container$|gpt-oss-safeguard/i
/** Names that are not models: fine-tuning bases, size classes, regions, gateways of other companies, templates. */
const NO_MODEL =
  /^ft:|^openai\/|\/$|^together-ai-|^together-ai$|gpt-3\.5-turbo-instruct|babbage|davinci|:free$/
/** Served by another route of the same provider, which the gateway does not call. */
const OTHER_ROUTE = { vertex: /-maas$|\//, azure: /\//, bedrock: /\/|us-gov/, openai: /\//, gemini: /\// }
/** Retired long ago, but never marked so. */
const GONE = {
  perplexity: /^(codellama|llama|mistral|mixtral|pplx-\d)|-(chat|online)$/,
  anthropic: /^claude-(instant|[12])/,
  xai: /^grok-(beta|2|vision)/,
  gemini: /-exp-|^gemini-gemma/,
  bedrock:
    /claude-(instant|v\d)|\.j2-|llama2|titan-text|claude-3-(opus|sonnet)|command-(light-)?text|^claude|@/,
  vertex: /claude-3-(opus|sonnet|5-sonnet)|experimental|-exp-|imagegeneration/,
  cohere: /^command-(light|r|r-plus)$|v2\.0$/,
  voyage: /-0[12]/,
  azure: /^ada$|^gpt-(3\.5|35)-turbo-(0301|0613|16k)|gpt-4(-32k)?(-0613)?$|preview$/,
}

const report = []
let total = 0
for (const [id, names] of Object.entries(PROVIDERS)) {
  const models = listModels(id, names)
  total += models.length
  const hosted = HOSTED_TOOLS[id]
  const file = {
    provider: id,
    source: SOURCE,
    date: DATE,
    ...(hosted ? { hosted_tools: hosted } : {}),
    models,
  }
  writeFileSync(join(root, 'catalog', `${id}.json`), toText(file))
}
writeFileSync(join(root, 'docs/catalog-report.md'), toReport())
console.log(`${total} models`)

function listModels(provider, names) {
  const found = new Map()
  const keep = (id, part) => {
    const known = [...found.keys()].find(key => key.toLowerCase() === id.toLowerCase()) ?? id
    found.set(known, { ...found.get(known), ...part })
  }
  for (const name of names.dev)
    for (const model of Object.values(modelsDev[name].models)) keep(model.id, { dev: fromModelsDev(model) })
  for (const [name, entry] of Object.entries(litellm)) {
    if (!names.lite.includes(entry.litellm_provider)) continue
    const id = names.prefix && name.startsWith(names.prefix) ? name.slice(names.prefix.length) : name
    const lite = fromLitellm(id, entry)
    if (lite.kind !== undefined) keep(id, { lite })
  }
  for (const [id, name] of Object.entries(RERANKERS[provider] ?? {}))
    keep(id, { lite: fromLitellm(id, litellm[name]) })
  for (const [id, forerunner] of Object.entries(SUCCESSORS[provider] ?? {})) {
    const { dev, lite } = found.get(forerunner)
    const { price: _, ...like } = dev ?? lite
    if (!found.has(id)) keep(id, { dev: { ...like, id, name: undefined } })
  }
  for (const { id, name, match, deprecated } of names.genOnly ? list(names.gen).models : [])
    if (match.equals === id && !deprecated && !found.has(id)) keep(id, { dev: bareEmbedding(id, name) })
  const models = [...found]
    .map(([id, parts]) => toModel(provider, names, id, { ...parts, gen: genaiPrice(names, id) }))
    .filter(model => model !== undefined)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  return completeByOtherNames(models)
}

/** Everything the price list has about a provider that sells embeddings only. */
function bareEmbedding(id, name) {
  return { id, name, kind: 'embedding', isText: true, isRetired: false }
}

function list(name) {
  return genaiPrices.find(({ id }) => id === name)
}

/** The maker's price, for a cloud that sells Claude at that price and whose own price is not in the list. */
function genaiPrice({ gen, makersPrice }, id) {
  const of = (name, model) => findGenaiPrice(list(name), model)
  return of(gen, id) ?? (makersPrice?.test(id) ? of('anthropic', id.replace(/@.*/, '')) : undefined)
}

/** Retirement is often postponed: a model that the newer list still has is not retired. */
function isRetired({ dev, lite }) {
  if (dev === undefined) return lite.isRetired
  return dev.isRetired && (lite === undefined || lite.isRetired)
}

function toModel(provider, names, id, { dev, lite, gen }) {
  if (lite?.kind === 'rerank') return toReranker(provider, id, lite)
  if (UNREACHED.test(id) || (dev === undefined && NO_MODEL.test(id)) || OTHER_ROUTE[provider]?.test(id))
    return undefined
  if (GONE[provider]?.test(id)) return undefined
  const first = dev ?? lite
  // models.dev gives some plain chat models every kind of output.
  const served = lite?.kind ?? first.kind
  // A model on /responses alone can chat if the provider's rules send chat requests there.
  const kind = served === 'responses' && names.onResponses ? 'chat' : served
  const isReachable = first.isText || (lite !== undefined && kind === 'chat')
  if (!isReachable || kind === 'responses' || isRetired({ dev, lite })) return undefined
  const merged = withSearchFee(
    mergePrices({ dev, lite, gen, isEmbedding: kind === 'embedding' }),
    SEARCH_FEES[provider]?.[id],
  )
  if (merged.disagreement) report.push({ provider, id, text: merged.disagreement })
  const head = {
    id,
    display_name: first.name ?? gen?.name ?? id,
    context_window: dev?.context ?? lite?.context ?? gen?.context ?? null,
    max_output_tokens: kind === 'embedding' ? null : (dev?.maxOutput ?? lite?.maxOutput ?? null),
  }
  if (kind === 'embedding') {
    const dimensions = lite?.dimensions
    return {
      ...head,
      capabilities: ['embeddings'],
      ...(dimensions > 0 ? { dimensions } : {}),
      pricing: toPricing(withoutAudio(merged.price), id),
    }
  }
  if (kind === 'image') return toImageModel(head, { dev, lite }, IMAGE_OUTPUT[provider])
  return {
    ...head,
    capabilities: [
      'chat',
      ...(first.tools ? ['tools'] : []),
      ...(first.responseFormat ? ['response_format'] : []),
      ...(first.vision ? ['vision'] : []),
      ...(first.reasoning ? ['reasoning'] : []),
    ],
    ...(first.inputs.length > 0 ? { inputs: first.inputs } : {}),
    ...(first.fixedSampling ? { fixed_sampling: true } : {}),
    ...(first.efforts ? { reasoning_efforts: first.efforts } : {}),
    ...(first.budget ? { reasoning_budget: first.budget } : {}),
    pricing: toPricing(takesAudio(first) ? merged.price : withoutAudio(merged.price), id),
  }
}

/** `fee`: undefined for a model that does not always search. */
function withSearchFee(merged, fee) {
  if (fee === undefined || merged.price === null) return merged
  return { ...merged, price: fee === null ? null : { ...merged.price, per_request: fee } }
}

function toReranker(provider, id, { context, rerank }) {
  if (GONE[provider]?.test(id) || !isReranked(provider)) return undefined
  return {
    id,
    display_name: id,
    context_window: context ?? null,
    max_output_tokens: null,
    capabilities: ['rerank'],
    ...(rerank === undefined ? {} : { rerank_pricing: toPrices(rerank) }),
    pricing: null,
  }
}

/** The providers of the catalogue whose rerankers the gateway calls. */
function isReranked(provider) {
  return ['bedrock', 'cohere', 'voyage'].includes(provider)
}

function takesAudio({ inputs }) {
  return inputs.includes('audio')
}

/** A price for input that the model does not accept has no meaning. */
function withoutAudio(price) {
  if (price === null) return null
  const { audio_input: _, ...rest } = price
  return rest
}

/** Priced per image or by tokens of two kinds. What the model does besides images is not chat. */
function toImageModel(head, { dev, lite }, makers) {
  const { per_image, ...byToken } = lite?.image ?? {}
  const tokens = dev?.price === undefined ? {} : toImageTokens(dev.price, head.id, makers)
  // If image tokens have a price, the provider bills by it; the price per image is an estimate of it.
  const known = Object.entries(byToken.image_output > 0 ? byToken : per_image > 0 ? { per_image } : tokens)
  const prices = Object.fromEntries(
    known.filter(([, price]) => price > 0).map(([name, price]) => [name, rounded(price)]),
  )
  return {
    ...head,
    max_output_tokens: null,
    capabilities: ['images', ...(dev?.vision || lite?.vision ? ['vision'] : [])],
    pricing: null,
    ...(prices.per_image > 0 || prices.image_output > 0 ? { image_pricing: prices } : {}),
  }
}

/** `makers`: prices of tokens of images where the provider's list has those of text only. */
function toImageTokens({ input, output }, id, makers) {
  if (makers === undefined) return { text_input: input, image_output: output }
  if (makers[id] === undefined) return {}
  return { text_input: input, text_output: output, image_output: makers[id] }
}

function toPricing(price, id) {
  if (price === null) return null
  const { long, tiers, ...base } = price
  // Anthropic's documented multiple, for models that are not yet in the list with the one-hour price.
  const hour = base.cache_write_1h ?? (/claude/.test(id) && base.cache_write > 0 ? base.input * 2 : undefined)
  return {
    ...toPrices({ ...base, ...(hour === undefined ? {} : { cache_write_1h: hour }) }),
    ...(long === undefined
      ? {}
      : {
          long_context: long.map(tier => ({
            over_input_tokens: tier.over,
            ...toPrices(withThinking(withHour(tier, base, hour), base)),
          })),
        }),
    ...(tiers === undefined
      ? {}
      : { tiers: Object.fromEntries(Object.entries(tiers).map(([name, tier]) => [name, toPrices(tier)])) }),
  }
}

function withHour({ over: _, ...long }, base, hour) {
  return hour === undefined || long.cache_write === undefined
    ? long
    : { ...long, cache_write_1h: (hour / base.input) * long.input }
}

/** A list that has the price of thinking for the usual length only: it is the same multiple of output beyond. */
function withThinking(long, base) {
  if (base.thinking_output === undefined || long.thinking_output !== undefined) return long
  return { ...long, thinking_output: (base.thinking_output / base.output) * long.output }
}

function toPrices(prices) {
  return Object.fromEntries(
    Object.entries(prices)
      .filter(([, price]) => price !== undefined)
      .map(([name, price]) => [name, rounded(price)]),
  )
}

/** One line per model: a changed price is one changed line, and the files stay small. */
function toText({ models, ...head }) {
  const fields = Object.entries(head).map(([name, value]) => {
    const lines = Array.isArray(value) ? toLines(value) : JSON.stringify(value)
    return `  ${JSON.stringify(name)}: ${lines},\n`
  })
  return `{\n${fields.join('')}  "models": ${toLines(models)}\n}\n`
}

/** One entry a line. */
function toLines(entries) {
  return `[\n${entries.map(entry => `    ${JSON.stringify(entry)}`).join(',\n')}\n  ]`
}

function toReport() {
  const lines = report.map(({ provider, id, text }) => `| ${provider} | ${id} | ${text} |`)
  return `# Where the price lists disagree

Written by tools/build-catalog.mjs; not by hand. USD per million tokens: input/output/cache read/cache write. The first
price is the one chosen: a price that began after the other lists were read, else the one on which two of three agree, else that of the newest list that
names this very model. ${report.length} of ${total} models.

| provider | model | taken · differing |
| --- | --- | --- |
${lines.join('\n')}
`
}
