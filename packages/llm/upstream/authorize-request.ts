import { toText } from '../json/json-value.ts'
import { signAwsRequest } from './sign-aws-request.ts'
import type { Target } from './target.ts'
import type { UpstreamRequest } from './upstream-request.ts'

/** An outgoing body has a field that its caller was not allowed to set. */
export class ReservedFieldError extends Error {
  /** Of the field, as the caller wrote it. */
  readonly path: string

  constructor(path: string) {
    super(`${path}: a caller may not set this field; the gateway authorizes, prices or relies on it`)
    this.path = path
  }
}

/**
 * Puts the target's credential on a request that is otherwise finished. `nowMs` (Unix milliseconds) is for providers
 * whose requests are signed. Throws ReservedFieldError where `request.reserved` is set.
 */
export function authorizeRequest(request: UpstreamRequest, target: Target, nowMs: number): void {
  if (request.reserved !== undefined) throw new ReservedFieldError(request.reserved)
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
