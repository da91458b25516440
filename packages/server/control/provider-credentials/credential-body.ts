import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { parseUrl } from '@rideau/llm/request/bounded-url'
import { Fault } from '../../core/fault.ts'
import { isLongJson } from '../../core/records/is-long-json.ts'
import { textField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'
import type { CredentialInput } from './new-credential.ts'
import { MAX_OPTIONS_BYTES, parseOptions } from './parse-options.ts'

/** The fields of a credential that can change; its provider cannot. */
const credentialSettings = {
  name: textField(200),
  api_key: z.string().trim().min(1).max(8192).nullish(),
  base_url: z.string().trim().min(1).max(2048).nullish(),
  // The provider defines its options, and parseOptions counts their bytes. Many more are looked at no further.
  options: z
    .record(z.string(), z.unknown())
    .refine(
      options => !isLongJson(options, 2 * MAX_OPTIONS_BYTES),
      `must have at most ${MAX_OPTIONS_BYTES} bytes as JSON`,
    )
    .nullish(),
  weight: z.int().min(0).max(1000).nullish(),
}

export const credentialFields = { provider: textField(64), ...credentialSettings }

const CredentialBody = z.strictObject(credentialFields)

/**
 * Checks what the schema cannot express: the provider is known, and its key, address and options are complete. Throws
 * 400.
 */
export function parseCredential(body: z.output<typeof CredentialBody>): CredentialInput {
  const provider = findProvider(body.provider)
  if (provider === undefined) throw refusal('provider', 'Unknown provider.')
  return {
    provider: body.provider,
    name: body.name,
    apiKey: parseApiKey(provider, body.api_key ?? null),
    baseUrl: parseBaseUrl(provider, body.base_url ?? null),
    options: parseOptions(provider, body.options ?? {}),
    weight: body.weight ?? 1,
  }
}

/** Returns the key; empty if the provider needs none and none was given. */
export function parseApiKey(provider: Provider, text: string | null): string {
  if (text === null) {
    if (provider.auth === 'none') return ''
    throw refusal('api_key', 'This provider needs an api_key.')
  }
  // A key becomes a header value, which is ASCII. A document is used for signing and has line breaks.
  const isFit = provider.keyIsDocument === true ? /^[\x20-\x7e\t\r\n]*$/ : /^[\x20-\x7e]*$/
  if (!isFit.test(text)) throw refusal('api_key', 'api_key must be printable ASCII.')
  return text
}

/** Returns the URL, including its version segment. The egress guard checks its address at each connection. */
export function parseBaseUrl(provider: Provider, text: string | null): string | null {
  if (text === null) {
    if (provider.baseUrl !== null) return null
    throw refusal('base_url', 'This provider needs a base_url.')
  }
  const url = parseUrl(text)
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw refusal('base_url', 'base_url must be an http or https URL.')
  }
  // The text is checked, because the parsed URL drops an empty query or fragment.
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    throw refusal('base_url', 'base_url takes no credentials, query or fragment.')
  }
  return url.href.replace(/\/+$/, '')
}

function refusal(param: string, message: string): Fault {
  return new Fault('invalid_request', message, { param })
}

export const CredentialChanges = z
  .strictObject(credentialSettings)
  .partial()
  .meta({ id: 'ProviderCredentialChanges' })
