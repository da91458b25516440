import { findProvider } from '@rideau/llm/providers/index'
import { Fault } from '../../core/fault.ts'
import { textField } from '../fields.ts'
import { z } from '../zod.ts'
import type { CredentialInput } from './new-credential.ts'

const MAX_OPTIONS_LENGTH = 16 * 1024

export const credentialFields = {
  provider: textField(64),
  name: textField(200),
  // It becomes a header's value, which takes no other characters.
  api_key: z
    .string()
    .trim()
    .min(1)
    .max(8192)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .nullish(),
  base_url: z.string().trim().min(1).max(2048).nullish(),
  options: z
    .record(z.string(), z.unknown())
    .refine(isStorable, 'must be plain JSON without NUL')
    .refine(options => JSON.stringify(options).length <= MAX_OPTIONS_LENGTH, 'must be at most 16 KiB')
    .nullish(),
  weight: z.int().min(0).max(1000).nullish(),
}

const CredentialBody = z.strictObject(credentialFields)

/** What the schema cannot say: the provider is known, and it gets the key and the address that it needs. */
export function parseCredential(body: z.output<typeof CredentialBody>): CredentialInput {
  const provider = findProvider(body.provider)
  if (provider === undefined) throw refusal('provider', 'This provider is not known.')
  if (body.api_key == null && provider.auth !== 'none') {
    throw refusal('api_key', 'This provider needs an api_key.')
  }
  if (body.base_url == null && provider.baseUrl === null) {
    throw refusal('base_url', 'This provider needs a base_url.')
  }
  return {
    provider: body.provider,
    name: body.name,
    apiKey: body.api_key ?? '',
    baseUrl: body.base_url == null ? null : parseBaseUrl(body.base_url),
    options: body.options ?? {},
    weight: body.weight ?? 1,
  }
}

/** An address up to and with its version segment. Whether it may be connected to is decided when it is. */
function parseBaseUrl(text: string): string {
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

/** jsonb takes neither NUL nor half of a surrogate pair, and no number past a double's range is JSON's. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return /^[^\0\p{Cs}]*$/u.test(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorable(item))
}

function refusal(param: string, message: string): Fault {
  return new Fault('invalid_request', message, { param })
}
