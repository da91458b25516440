import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { Fault } from '../../core/fault.ts'
import { textField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'
import type { CredentialInput } from './new-credential.ts'
import { parseOptions } from './parse-options.ts'

/** What of a credential may be changed: its provider may not. */
export const credentialSettings = {
  name: textField(200),
  api_key: z.string().trim().min(1).max(8192).nullish(),
  base_url: z.string().trim().min(1).max(2048).nullish(),
  // Which there are depends on the provider.
  options: z.record(z.string(), z.unknown()).nullish(),
  weight: z.int().min(0).max(1000).nullish(),
}

export const credentialFields = { provider: textField(64), ...credentialSettings }

const CredentialBody = z.strictObject(credentialFields)

/** What the schema cannot say: the provider is known, and it gets the key, the address and the options that it needs. */
export function parseCredential(body: z.output<typeof CredentialBody>): CredentialInput {
  const provider = findProvider(body.provider)
  if (provider === undefined) throw refusal('provider', 'This provider is not known.')
  return {
    provider: body.provider,
    name: body.name,
    apiKey: parseApiKey(provider, body.api_key ?? null),
    baseUrl: parseBaseUrl(provider, body.base_url ?? null),
    options: parseOptions(provider, body.options ?? {}),
    weight: body.weight ?? 1,
  }
}

/** Empty where the provider needs none and none is given. */
export function parseApiKey(provider: Provider, text: string | null): string {
  if (text === null) {
    if (provider.auth === 'none') return ''
    throw refusal('api_key', 'This provider needs an api_key.')
  }
  // A key becomes a header's value, which takes no other characters; a document is signed with, and has lines.
  const isFit = provider.keyIsDocument === true ? /^[\x20-\x7e\t\r\n]*$/ : /^[\x20-\x7e]*$/
  if (!isFit.test(text)) throw refusal('api_key', 'api_key must be printable ASCII.')
  return text
}

/** An address up to and with its version segment. Whether it may be connected to is decided when it is. */
export function parseBaseUrl(provider: Provider, text: string | null): string | null {
  if (text === null) {
    if (provider.baseUrl !== null) return null
    throw refusal('base_url', 'This provider needs a base_url.')
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw refusal('base_url', 'base_url must be an http or https URL.')
  }
  // Asked of the text: an empty query or fragment leaves no trace in the parsed URL.
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    throw refusal('base_url', 'base_url takes no credentials, query or fragment.')
  }
  return url.href.replace(/\/+$/, '')
}

function refusal(param: string, message: string): Fault {
  return new Fault('invalid_request', message, { param })
}
