import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import { toTable } from '@rideau/llm/json/to-table'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { IdentifiedContext } from '../request/request-context.ts'

/**
 * Returns the body with the caller's headers that belong to its format, such as beta flags. They are only sent along
 * with that body. Those of client tokens need `allow_client_passthrough`, since the gateway does not validate them.
 */
export function withFormatHeaders(
  ctx: IdentifiedContext,
  source: SourceBody,
  { forwardedHeaders }: Pick<ChatServer, 'forwardedHeaders'>,
): SourceBody {
  if (forwardedHeaders === undefined) return source
  if (!mayForward(ctx)) return source
  const headers = toTable<Record<string, string>>({})
  for (const name of forwardedHeaders) {
    const value = ctx.req.headers[name]
    if (typeof value === 'string' && value !== '') headers[name] = value
  }
  return { ...source, headers }
}

/** Whether headers of a format may go to a provider of it. */
export function mayForward({ caller, environment }: IdentifiedContext): boolean {
  return caller.kind !== 'client_token' || environment.allowClientPassthrough
}
