import {
  LATENCY_BOUNDS,
  type ProviderCount,
  type ProviderCounts,
} from '../../gateway/attempts/provider-counts.ts'
import type { Reading } from '../../http/metrics/metrics.ts'

/** Returns the metrics by provider. A provider has none before its first attempt. */
export function listProviderReadings(counts: Pick<ProviderCounts, 'all'>): Reading[] {
  return [
    {
      name: 'rideau_provider_attempts_total',
      help: 'Attempts at providers by their end: success, canceled (before the answer), or the kind of the error.',
      kind: 'counter',
      read: () => ({
        labels: ['provider', 'outcome'],
        samples: [...counts.all].flatMap(([provider, { outcomes }]) =>
          Object.entries(outcomes).map(([outcome, value]) => ({ labels: { provider, outcome }, value })),
        ),
      }),
    },
    {
      name: 'rideau_provider_latency_seconds',
      help: 'Time of successful attempts: of a stream until its first event, of a plain answer until its last byte.',
      kind: 'histogram',
      bounds: LATENCY_BOUNDS,
      read: () =>
        [...counts.all].flatMap(([provider, { plain, stream }]) => [
          { labels: { provider, stream: 'false' }, ...plain },
          { labels: { provider, stream: 'true' }, ...stream },
        ]),
    },
    byProvider(
      counts,
      'rideau_provider_input_tokens_total',
      'Input tokens that providers charge, cached ones included.',
      ({ inputTokens }) => inputTokens,
    ),
    byProvider(
      counts,
      'rideau_provider_output_tokens_total',
      'Output tokens that providers charge, reasoning included.',
      ({ outputTokens }) => outputTokens,
    ),
    byProvider(
      counts,
      'rideau_provider_cost_usd_total',
      'What providers charge, in US dollars, without calls of unknown price.',
      ({ nanoUsd }) => nanoUsd / 1e9,
    ),
  ]
}

function byProvider(
  counts: Pick<ProviderCounts, 'all'>,
  name: string,
  help: string,
  toValue: (count: ProviderCount) => number,
): Reading {
  return {
    name,
    help,
    kind: 'counter',
    read: () => ({
      labels: ['provider'],
      samples: [...counts.all].map(([provider, count]) => ({ labels: { provider }, value: toValue(count) })),
    }),
  }
}
