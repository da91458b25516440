import type { Target, UpstreamRequest } from './spec.ts'

/**
 * Puts the target's credential on a request that is otherwise finished. `nowMs` (Unix milliseconds) is for providers
 * whose requests are signed.
 */
export function authorizeRequest(request: UpstreamRequest, target: Target, _nowMs: number): void {
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
    case 'x-api-key':
    case 'x-goog-api-key':
      headers[target.provider.auth] = apiKey
      return
  }
}
