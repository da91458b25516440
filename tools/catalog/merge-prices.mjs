import { MODELS_DEV_DATE } from './read-lists.mjs'

const BUCKETS = ['input', 'output', 'cache_read', 'cache_write']

/**
 * Chooses one price from up to three: one that began after the other lists were read, then one on which two of the three
 * agree, then that of the newest list about this very model. null: no list has a reliable price; a zero is a gap or a trial.
 * `disagreement` names in one line the lists that differ, if any.
 */
export function mergePrices({ dev, lite, gen, isEmbedding }) {
  const offers = [
    { list: 'genai-prices', price: usable(gen?.byTheHour ? undefined : gen?.price, isEmbedding), gen },
    { list: 'models.dev', price: usable(dev?.price, isEmbedding) },
    { list: 'litellm', price: usable(lite?.price, isEmbedding) },
  ].filter(({ price }) => price !== undefined)
  if (offers.length === 0) return { price: null }
  const chosen = choose(offers)
  const base = completed(chosen, offers)
  const differing = offers.filter(offer => !alike(offer.price, chosen.price))
  return {
    price: base,
    agreeing: offers.length - differing.length,
    ...(differing.length === 0 ? {} : { disagreement: describe(chosen, differing) }),
  }
}

function choose(offers) {
  const fresh = offers.find(({ gen }) => gen?.since !== undefined && gen.since > MODELS_DEV_DATE)
  if (fresh) return fresh
  const agreed = offers.find(one => offers.some(other => other !== one && alike(one.price, other.price)))
  if (agreed) return agreed
  return offers.find(({ gen }) => gen === undefined || gen.exact) ?? offers[0]
}

/** Cache prices and the long context that the chosen list leaves out, from lists that agree on the rest. */
function completed(chosen, offers) {
  const { tiers: _, ...price } = chosen.price
  for (const { price: other } of offers) {
    if (!alike(other, chosen.price)) continue
    price.cache_read ??= other.cache_read
    price.cache_write ??= other.cache_write
    price.long ??= other.long
    price.thinking_output ??= other.thinking_output
  }
  // Audio: from any list with the same price of input. genai-prices names it if it differs, so without it in the entry of
  // this very model it is the price of input.
  price.audio_input ??= offers.find(
    ({ price: other }) => other.audio_input > 0 && near(other.input, price.input),
  )?.price.audio_input
  if (offers.some(({ gen }) => gen?.exact)) price.audio_input ??= price.input
  // Only one list has it, so every chosen price takes it from there.
  price.per_request ??= offers.find(({ price: other }) => other.per_request > 0)?.price.per_request
  const lite = offers.find(({ list }) => list === 'litellm')?.price
  // The one-hour cache is sold at a multiple of input: the multiple still applies if the price has changed since.
  // Every maker charges twice its input for an hour in the cache; one list has another model's entry.
  if (lite?.cache_write_1h > 0 && lite.cache_write_1h <= lite.input * 3)
    price.cache_write_1h = price.input * (lite.cache_write_1h / lite.input)
  // Only one list has service tiers. They are multiples too; a tier at the usual price is omitted.
  for (const [name, tier] of Object.entries(lite?.tiers ?? {})) {
    if (near(tier.input, lite.input)) continue
    price.tiers = { ...price.tiers, [name]: scaled(price, tier, lite) }
  }
  return price
}

function scaled(price, tier, lite) {
  return {
    input: price.input * (tier.input / lite.input),
    output: price.output * (tier.output / lite.output),
    ...(price.cache_read > 0 && tier.cache_read > 0 && lite.cache_read > 0
      ? { cache_read: price.cache_read * (tier.cache_read / lite.cache_read) }
      : {}),
  }
}

function usable(price, isEmbedding) {
  if (price === undefined || !(price.input > 0)) return undefined
  if (isEmbedding) return { input: price.input, output: 0 }
  if (!(price.output > 0)) return undefined
  const { long = [], ...base } = price
  const whole = long.filter(
    tier => tier.input > 0 && tier.output > 0 && (tier.input !== price.input || tier.output !== price.output),
  )
  return {
    ...positive(base),
    ...(base.tiers === undefined ? {} : { tiers: base.tiers }),
    ...(whole.length > 0
      ? { long: whole.map(tier => ({ over: tier.over, ...positive(tier, BUCKETS) })) }
      : {}),
  }
}

function positive(prices, names = [...BUCKETS, 'cache_write_1h', 'per_request', 'audio_input']) {
  return {
    ...Object.fromEntries(names.filter(name => prices[name] > 0).map(name => [name, prices[name]])),
    // Only where thinking makes output dearer.
    ...(prices.thinking_output > prices.output ? { thinking_output: prices.thinking_output } : {}),
  }
}

/** Equal in input and output, and in the cache prices that both have. */
function alike(one, other) {
  return BUCKETS.every(
    name => one[name] === undefined || other[name] === undefined || near(one[name], other[name]),
  )
}

function near(one, other) {
  return Math.abs(one - other) <= 0.005 * Math.max(one, other)
}

function describe(chosen, differing) {
  const told = ({ list, price }) => `${list} ${BUCKETS.map(name => rounded(price[name])).join('/')}`
  const since = chosen.gen?.since > MODELS_DEV_DATE ? ` (since ${chosen.gen.since})` : ''
  return `${told(chosen)}${since} · ${differing.map(told).join(' · ')}`
}

/** Six decimals of a dollar, the unit of costNanoUsd. */
export function rounded(price) {
  return price === undefined ? '–' : Math.round(price * 1e6) / 1e6
}
