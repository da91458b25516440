import { answerOf, api, type Resource } from '../../api/client.ts'

export type Log = Resource<'RequestLog'>
export type LogDetail = Resource<'RequestLogDetail'>

const PAGE_SIZE = 100

export function listLogs(envId: string, query: Readonly<Record<string, string>>, cursor?: string) {
  return answerOf(
    api.GET('/v1/environments/{envId}/logs', {
      params: {
        path: { envId },
        // The parameters travel as texts; their types in the document are what they mean.
        query: {
          limit: PAGE_SIZE,
          ...(query as Record<string, never>),
          ...(cursor === undefined ? {} : { cursor }),
        },
      },
    }),
  )
}

export function getLogHistogram(envId: string, query: Readonly<Record<string, string>>) {
  return answerOf(
    api.GET('/v1/environments/{envId}/logs/histogram', {
      params: { path: { envId }, query: query as Record<string, never> },
    }),
  )
}

export function getLog(requestId: string): Promise<LogDetail> {
  return answerOf(api.GET('/v1/logs/{requestId}', { params: { path: { requestId } } }))
}

export type StatusLook = 'good' | 'warn' | 'bad'

export function lookOf(status: number): StatusLook {
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'
}

/** `fast → openai/gpt-4o-mini`, or the one name where both are the same. */
export function describeModel({ model_requested: asked, provider, model }: Log): string {
  const answered = provider === null || model === null ? null : `${provider}/${model}`
  if (asked === null || answered === null) return asked ?? answered ?? '–'
  return asked === answered ? asked : `${asked} → ${answered}`
}
