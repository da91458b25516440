import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import { toTable } from '@rideau/llm/json/to-table'
import type { Caller, Environment } from '../../core/tenancy.ts'
import type { JsonBody } from '../request/read-json.ts'
import type { RequestContext } from '../request/request-context.ts'

/**
 * The body with the caller's headers that belong to its format, such as the choice of what is in beta: they go out with
 * it or not at all. From a client token they are as little read as a field that passes through.
 */
export function withFormatHeaders(
  ctx: RequestContext,
  body: JsonBody,
  { forwardedHeaders }: Pick<ChatServer, 'forwardedHeaders'>,
  caller: Caller,
  environment: Environment,
): JsonBody {
  if (forwardedHeaders === undefined) return body
  if (caller.kind === 'client_token' && !environment.allowClientPassthrough) return body
  const headers = toTable<Record<string, string>>({})
  for (const name of forwardedHeaders) {
    const value = ctx.req.headers[name]
    if (typeof value === 'string' && value !== '') headers[name] = value
  }
  return { ...body, source: { ...body.source, headers } }
}
