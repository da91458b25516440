import { toText } from '../json/json-value.ts'
import { signAwsRequest } from './sign-aws-request.ts'
import type { Target } from './target.ts'
import type { UpstreamRequest } from './upstream-request.ts'

/**
 * Puts the target's credential on a request that is otherwise finished. `nowMs` (Unix milliseconds) is for providers
 * whose requests are signed.
 */
export function authorizeRequest(request: UpstreamRequest, target: Target, nowMs: number): void {
  const { headers } = request
  const { apiKey } = target
  switch (target.provider.auth) {
    case 'bearer':
    case 'none':
      if (apiKey !== '') headers.authorization = `Bearer ${apiKey}`
      return
    case 'google':
      headers.authorization = `Bearer ${target.accessToken ?? ''}`
      return
    case 'api-key':
      if (target.accessToken === undefined) headers['api-key'] = apiKey
      else headers.authorization = `Bearer ${target.accessToken}`
      return
    case 'aws':
      authorizeAws(request, target, nowMs)
      return
    case 'x-api-key':
    case 'x-goog-api-key':
      headers[target.provider.auth] = apiKey
      return
  }
}

/** With an `access_key_id` the key is its secret, and the request is signed; without it the key is a bearer token. */
function authorizeAws(request: UpstreamRequest, { provider, options, apiKey }: Target, nowMs: number): void {
  const accessKeyId = toText(options?.access_key_id)
  if (accessKeyId === undefined) {
    request.headers.authorization = `Bearer ${apiKey}`
    return
  }
  const sessionToken = toText(options?.session_token)
  const credential = {
    accessKeyId,
    secretAccessKey: apiKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    region: toText(options?.region) ?? '',
    service: provider.awsService ?? '',
  }
  signAwsRequest(request, credential, nowMs)
}
