import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Resource } from '../../api/client.ts'
import { toParams } from '../../api/workspace.ts'
import { DescriptionList } from '../../controls/description-list.tsx'
import { toCount } from '../../format/amounts.ts'
import { toMoney, toPrice } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import type { LogDetail } from './log-calls.ts'

type CostPart = Resource<'CostPart'>

export function RequestDetails({ log, keyName }: { log: LogDetail; keyName: string | undefined }) {
  const params = toParams(useEnvironment())
  const { usage, metadata, feedback } = log
  const { cached_tokens: cached, cache_write_tokens: written } = usage.input_tokens_details
  const { reasoning_tokens: reasoning } = usage.output_tokens_details
  const items: readonly (readonly [string, ReactNode])[] = [
    ['Request id', <code key="id">{log.request_id}</code>],
    ['Endpoint', `${log.endpoint} (${log.surface})${log.stream ? ', streamed' : ''}`],
    [
      'Input tokens',
      toParts(
        usage.input_tokens,
        [`${toCount(cached)} from the cache`, cached],
        [`${toCount(written)} written to it`, written],
      ),
    ],
    ['Output tokens', toParts(usage.output_tokens, [`${toCount(reasoning)} for reasoning`, reasoning])],
    [
      'Cost',
      `${toMoney(log.cost_usd)}${log.sandbox ? ', fictitious (sandbox)' : ''}${log.usage_estimated ? ', estimated' : ''}`,
    ],
    ...(log.cost_parts ?? []).map(part => [`Cost of ${PARTS[part.kind]}`, toSum(part)] as const),
    [
      'End user',
      log.end_user_id === null ? (
        'none'
      ) : (
        <Link
          key="end-user"
          to="/o/$org/$project/$environment/end-users"
          params={params}
          search={{ q: log.end_user_id }}
        >
          <bdi>{log.end_user_id}</bdi>
        </Link>
      ),
    ],
    [
      'Key',
      log.key_id === null ? (
        'a client token'
      ) : (
        <Link
          key="key"
          to="/o/$org/$project/$environment/keys/$keyId"
          params={{ ...params, keyId: log.key_id }}
        >
          {keyName ?? log.key_id}
        </Link>
      ),
    ],
    ['Ended with', log.finish_reason ?? log.error_code ?? '–'],
    ...(log.provider_message === null ? [] : [['Provider message', log.provider_message] as const]),
    ...(log.user === null ? [] : [['User in the body', log.user] as const]),
    ...(log.output_cap === null
      ? []
      : [['Output cap', `${toCount(log.output_cap)} tokens, set by a limit`] as const]),
    ...(feedback === null
      ? []
      : [
          [
            'Feedback',
            `${feedback.score}${feedback.comment === null ? '' : `: ${feedback.comment}`}`,
          ] as const,
        ]),
    ...Object.entries(metadata ?? {}).map(([name, value]) => [`metadata.${name}`, value] as const),
  ]
  return (
    <div className="padded">
      <DescriptionList items={items} />
    </div>
  )
}

const PARTS = {
  input: 'input',
  cache_read: 'cached input',
  cache_write: 'cache writes',
  output: 'output',
  request: 'the request',
}

/** `1,204 x $2.50 a million = $0.00301` */
function toSum({ tokens, usd_per_mtok: price, cost_usd: cost }: CostPart): string {
  if (tokens === null || price === null) return toMoney(cost)
  return `${toCount(tokens)} × ${toPrice(price)} a million = ${toMoney(cost)}`
}

/** `1,204, including 512 from the cache`. Parts of zero are left out. */
function toParts(total: number, ...parts: readonly (readonly [string, number])[]): string {
  const shown = parts.filter(([, count]) => count > 0).map(([text]) => text)
  return shown.length === 0 ? toCount(total) : `${toCount(total)}, including ${shown.join(' and ')}`
}
