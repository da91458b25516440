import { api, type Resource, unwrap } from '../../api/client.ts'
import type { LogQuery } from './log-search.ts'

/** The beginning of the last line of a CSV file that lacks older rows. */
const CUT = 'Cut after'

export type Log = Resource<'RequestLog'>
export type LogDetail = Resource<'RequestLogDetail'>

const PAGE_SIZE = 100

export function listLogs(envId: string, query: LogQuery, cursor?: string) {
  return unwrap(
    api.GET('/v1/environments/{envId}/logs', {
      params: {
        path: { envId },
        // Query parameters are sent as text, whatever type the OpenAPI document gives them.
        query: {
          limit: PAGE_SIZE,
          ...(query as Record<string, never>),
          ...(cursor === undefined ? {} : { cursor }),
        },
      },
    }),
  )
}

export function getLogHistogram(envId: string, query: LogQuery) {
  return unwrap(
    api.GET('/v1/environments/{envId}/logs/histogram', {
      params: { path: { envId }, query: query as Record<string, never> },
    }),
  )
}

/** Returns the matching requests as CSV, and whether older ones are missing. */
export async function downloadLogs(
  envId: string,
  query: LogQuery,
): Promise<{ file: Blob; isTruncated: boolean }> {
  const file = await unwrap(
    api.GET('/v1/environments/{envId}/logs', {
      params: { path: { envId }, query: query as Record<string, never> },
      headers: { Accept: 'text/csv' },
      parseAs: 'blob',
    }),
  )
  const end = await file.slice(-200).text()
  return { file, isTruncated: end.split('\r\n').at(-2)?.startsWith(CUT) === true }
}

export function getLog(requestId: string): Promise<LogDetail> {
  return unwrap(api.GET('/v1/logs/{requestId}', { params: { path: { requestId } } }))
}

export type StatusVariant = 'good' | 'warn' | 'bad'

export function statusVariant(status: number): StatusVariant {
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'
}

/** Returns the requested and the answering model, such as `fast → openai/gpt-4o-mini`, or one name if they are the same. */
export function describeModel({ model_requested: requested, model: answered }: Log): string {
  if (requested === null || answered === null) return requested ?? answered ?? '–'
  return requested === answered ? requested : `${requested} → ${answered}`
}
