import type { AudioUsage, AudioUsageBounds } from '@rideau/llm/audio/audio-format'
import { audioCostNanoUsd, type SpokenText } from '@rideau/llm/audio/audio-pricing'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { AudioPrices } from '@rideau/llm/provider/prices'
import type { Bill } from '@rideau/llm/usage/bill'
import type { Usage } from '@rideau/llm/usage/usage'
import type { Amounts } from '../../ledger/ledger.ts'

/** What an audio request can use at most, at any model. */
export interface AudioBounds extends SpokenText {
  readonly usage: AudioUsageBounds
}

interface AudioTarget {
  readonly catalogModel: CatalogModel | undefined
}

/** Returns the most that a request may cost at a target; null: the price is unknown. */
export function maxAudioCost(most: AudioBounds, { catalogModel }: AudioTarget): number | null {
  return audioCostNanoUsd(most.usage, most, catalogModel?.audio_pricing)
}

/** Returns what to reserve: the maximum over all targets. */
export function toReservedAudioAmounts(
  targets: readonly (AudioTarget & { readonly most: AudioBounds })[],
): Amounts {
  const counted = targets.map(({ most, catalogModel }) =>
    sum(toUsage(most.usage, catalogModel?.audio_pricing)),
  )
  return {
    tokens: Math.max(...counted),
    nanoUsd: Math.max(...targets.map(target => maxAudioCost(target.most, target) ?? 0)),
  }
}

/** Returns the bill of an answer. What it does not report is billed at its maximum, so that audio is never free. */
export function toAudioBill(reported: AudioUsage, most: AudioBounds, { catalogModel }: AudioTarget): Bill {
  const prices = catalogModel?.audio_pricing
  const isEstimated =
    prices?.per_hour !== undefined
      ? reported.seconds === undefined
      : prices?.per_million_characters === undefined && reported.tokens === undefined
  const usage = isEstimated ? most.usage : reported
  return { usage: toUsage(usage, prices), isEstimated, costNanoUsd: audioCostNanoUsd(usage, most, prices) }
}

/** The bill of a call that ended without an answer: its maximum, which is what was reserved. */
export function toAbandonedAudioBill(most: AudioBounds, target: AudioTarget): Bill {
  return { ...toAudioBill(most.usage, most, target), isEstimated: true }
}

/** Models that are priced by the hour or the character count no tokens. */
function toUsage({ tokens }: AudioUsage, prices: AudioPrices | undefined): Usage {
  const isByToken = prices?.per_hour === undefined && prices?.per_million_characters === undefined
  const counted = isByToken ? tokens : undefined
  return {
    uncachedInput: (counted?.textInput ?? 0) + (counted?.audioInput ?? 0),
    audioInput: counted?.audioInput ?? 0,
    cacheRead: 0,
    cacheWrite: 0,
    output: (counted?.textOutput ?? 0) + (counted?.audioOutput ?? 0),
    reasoning: 0,
  }
}

function sum({ uncachedInput, output }: Usage): number {
  return uncachedInput + output
}
