import { toText } from '../json/json-value.ts'
import type { MediaAddresses } from './media-addresses.ts'
import { findForbidden } from './outgoing-body.ts'
import type { Grant } from './outgoing-rules.ts'
import { signAwsRequest } from './sign-aws-request.ts'
import type { Target } from './target.ts'
import type { UpstreamRequest } from './upstream-request.ts'

const ACCEPTED: Readonly<Record<MediaAddresses, string | undefined>> = {
  any: undefined,
  public: 'must be a data URL, or an https: address of a host with a public name.',
  none: 'must be a data URL: this provider is not asked to fetch an address for a client token.',
}

/**
 * By these marks in a model's name OpenRouter searches the web, prefers dear hosts, uses a stored set of parameters, or chooses the model itself, in any
 * case of letters. End users are offered none of that. Proxies name one fixed model `openrouter/<maker>/<model>`. Each provider is checked, since the address of a credential may be OpenRouter's.
 */
const HOSTED_MARKS = /:(?:exacto|floor|nitro|online)|@preset\/|^~?openrouter\/[^/]+$|^~?switchpoint\/router/i
/** What a server may leave out of a name: white space, slashes at the end, and what a path would not have. */
const IGNORED = /\s|[?#].*$/gs

/** An outgoing body has a field that its caller was not allowed to set. */
export class ReservedFieldError extends Error {
  /** The path of the field, as the caller wrote it. */
  readonly path: string
  /** A secret key may set it. */
  readonly isForKeys: boolean
  /** What the field may be, if that can be said. */
  readonly accepted: string | undefined

  constructor(path: string, isForKeys = false, accepted?: string) {
    super(`${path}: a caller may not set this field; the gateway authorizes, prices or relies on it`)
    this.path = path
    this.isForKeys = isForKeys
    this.accepted = accepted
  }
}

/**
 * Puts the target's credential on a request that is otherwise finished. `nowMs` (Unix milliseconds) is for providers
 * whose requests are signed. `grant`: what the caller may ask for; null: the gateway itself asks, without a body. Throws
 * ReservedFieldError if the body asks for more, so that no such request gets a credential.
 */
export function authorizeRequest(
  request: UpstreamRequest,
  target: Target,
  nowMs: number,
  grant: Grant | null,
): void {
  if (request.body.length > 0) assertGranted(request, target, grant)
  const { headers } = request
  const { apiKey, traceparent } = target
  if (traceparent !== undefined) headers.traceparent = traceparent
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

function assertGranted({ content }: UpstreamRequest, target: Target, grant: Grant | null): void {
  if (content === undefined || grant === null) throw new Error('a body goes out that nothing has checked')
  const found = findForbidden(content, grant)
  if (found !== undefined) {
    const asKey: Grant = { ...grant, sender: 'key', addresses: 'any' }
    const isForKeys = grant.sender !== 'key' && findForbidden(content, asKey) === undefined
    const isAddress = findForbidden(content, { ...grant, addresses: 'any' }) !== found
    throw new ReservedFieldError(found, isForKeys, isAddress ? ACCEPTED[grant.addresses] : undefined)
  }
  if (grant.sender === 'end_user' && HOSTED_MARKS.test(toBareName(target.model)))
    throw new ReservedFieldError('model', true)
}

function toBareName(model: string): string {
  return model.replace(IGNORED, '').replace(/\/+$/, '')
}

/** Returns true if requests to a target are signed, for which their bodies are digested. */
export function isSigned({ provider, options }: Target): boolean {
  return provider.auth === 'aws' && toText(options?.access_key_id) !== undefined
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
