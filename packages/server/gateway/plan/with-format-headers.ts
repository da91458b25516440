import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import { toTable } from '@rideau/llm/json/to-table'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { IdentifiedContext } from '../request/request-context.ts'

/**
 * The body with the caller's headers that belong to its format, such as the choice of what is in beta: they go out with
 * it or not at all. From a client token they are as little read as a field that passes through.
 */
export function withFormatHeaders(
  { req, caller, environment }: IdentifiedContext,
  source: SourceBody,
  { forwardedHeaders }: Pick<ChatServer, 'forwardedHeaders'>,
): SourceBody {
  if (forwardedHeaders === undefined) return source
  if (caller.kind === 'client_token' && !environment.allowClientPassthrough) return source
  const headers = toTable<Record<string, string>>({})
  for (const name of forwardedHeaders) {
    const value = req.headers[name]
    if (typeof value === 'string' && value !== '') headers[name] = value
  }
  return { ...source, headers }
}
