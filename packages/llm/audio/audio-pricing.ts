import type { AudioPrices } from '../provider/prices.ts'
import { estimateMaxTokens } from '../usage/estimate.ts'
import type {
  AudioTokens,
  AudioUsage,
  AudioUsageBounds,
  SpeechRequest,
  TranscriptionRequest,
} from './audio-format.ts'

const NANO_USD = 1_000_000_000
const SECONDS_AN_HOUR = 3600
const MILLION = 1_000_000
/** Prices for tokens have at most six decimals, so a token at one unit costs a thousandth of a nano-dollar. */
const PRICE_UNITS = 1_000_000
const UNITS_PER_NANO_USD = 1000

/** Above what was seen of any model: 17 tokens of audio and 6 of text for a second of fast speech. */
const HEARD_TOKENS_A_SECOND = 20
const SAID_TOKENS_A_SECOND = 10
/** The fewest characters in a second of speech, and its approximate number of tokens. */
const FEWEST_CHARACTERS_A_SECOND = 5
const SPOKEN_TOKENS_A_SECOND = 21
/** Pauses, and silence at both ends. */
const SPOKEN_TOKENS = 200

/** What is priced besides what the usage has. */
export interface SpokenText {
  /** The characters of the text that is spoken; 0 for transcripts. */
  readonly characters: number
}

/**
 * What audio costs in whole nano-dollars, rounded up once; null: the price is unknown, which is never zero. A price by hour
 * or character goes before one for tokens.
 */
export function audioCostNanoUsd(
  usage: AudioUsage,
  { characters }: SpokenText,
  prices: AudioPrices | undefined,
): number | null {
  if (prices === undefined) return null
  if (prices.per_million_characters !== undefined) {
    return Math.ceil((characters * Math.round(prices.per_million_characters * NANO_USD)) / MILLION)
  }
  if (prices.per_hour !== undefined) {
    if (usage.seconds === undefined) return null
    const seconds = Math.max(prices.min_seconds ?? 0, usage.seconds)
    return Math.ceil((seconds * Math.round(prices.per_hour * NANO_USD)) / SECONDS_AN_HOUR)
  }
  return usage.tokens === undefined ? null : priceTokens(usage.tokens, prices)
}

function priceTokens(tokens: AudioTokens, prices: AudioPrices): number | null {
  const {
    text_input: text,
    audio_input: audio = text,
    text_output: said,
    audio_output: spoken = said,
  } = prices
  const buckets: readonly (readonly [tokens: number, price: number | undefined])[] = [
    [tokens.textInput, text],
    [tokens.audioInput, audio],
    [tokens.textOutput, said],
    [tokens.audioOutput, spoken],
  ]
  let units = 0
  for (const [count, price] of buckets) {
    if (count === 0) continue
    if (price === undefined) return null
    units += count * Math.round(price * PRICE_UNITS)
  }
  return Math.ceil(units / UNITS_PER_NANO_USD)
}

/** The most that a transcript may use, by the length that its file can have at most. */
export function maxTranscriptionUsage({
  file: { seconds },
  prompt = '',
}: TranscriptionRequest): AudioUsageBounds {
  const tokens = {
    textInput: estimateMaxTokens(prompt),
    audioInput: seconds * HEARD_TOKENS_A_SECOND,
    textOutput: seconds * SAID_TOKENS_A_SECOND,
    audioOutput: 0,
  }
  return { seconds, tokens }
}

/** The most that a text may use when it is spoken. */
export function maxSpeechUsage({ input, instructions = '', speed }: SpeechRequest): AudioUsageBounds {
  const seconds = Math.ceil(input.length / (FEWEST_CHARACTERS_A_SECOND * Math.min(1, speed)))
  const tokens = {
    textInput: estimateMaxTokens(input) + estimateMaxTokens(instructions),
    audioInput: 0,
    textOutput: 0,
    audioOutput: SPOKEN_TOKENS + seconds * SPOKEN_TOKENS_A_SECOND,
  }
  return { seconds, tokens }
}

/** OpenAI counts code points. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
