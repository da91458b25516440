import { parseObject } from './conversation.ts'
import type { LogDetail } from './log-calls.ts'

interface Gateway {
  readonly gatewayUrl: string
  readonly prefixes: Readonly<Record<string, string | undefined>>
}

const NATIVE_ROUTES: ReadonlyMap<string, string> = new Map([
  ['chat', '/v1/chat'],
  ['embeddings', '/v1/embeddings'],
  ['images', '/v1/images'],
])

/**
 * Returns the captured request as a curl command that reads its key from the environment, or undefined if the body was not captured
 * completely or its format has the model in the address.
 */
export function toCurl(log: LogDetail, { gatewayUrl, prefixes }: Gateway): string | undefined {
  const body = parseObject(log.request_body)
  if (body === undefined || log.request_body === null) return undefined
  const route = findRoute(log, body, prefixes)
  if (route === undefined) return undefined
  return `curl ${gatewayUrl}${route} \\
  -H "authorization: Bearer $RIDEAU_KEY" \\
  -H 'content-type: application/json' \\
  -d '${log.request_body.replaceAll("'", "'\\''")}'`
}

function findRoute(
  { surface, endpoint }: LogDetail,
  body: object,
  prefixes: Gateway['prefixes'],
): string | undefined {
  if (surface === 'native') return NATIVE_ROUTES.get(endpoint)
  if (surface === 'anthropic' && endpoint === 'chat')
    return `${prefixes.anthropic ?? '/anthropic'}/v1/messages`
  if (surface !== 'openai') return undefined
  const openAi = prefixes.openai ?? '/openai'
  if (endpoint === 'embeddings') return `${openAi}/v1/embeddings`
  if (endpoint !== 'chat') return undefined
  return `${openAi}/v1/${'input' in body ? 'responses' : 'chat/completions'}`
}
