import type { JsonObject } from '@rideau/llm/json/json-value'
import { findProvider } from '@rideau/llm/providers/index'
import type { SecretBox } from '../../core/access/secret-box.ts'

/** Differs from the context of the row's key, so that neither ciphertext opens in the other's column. */
export const OPTIONS_CONTEXT = 'provider_credentials.options'

/** The options of a credential as they are stored: those that its provider's list calls secret are encrypted for this row. */
export function sealOptions(
  secretBox: SecretBox,
  { id, provider }: { readonly id: string; readonly provider: string },
  options: JsonObject,
): { readonly options: string; readonly options_cipher: Buffer | null } {
  const names = listSecretOptions(provider)
  const entries = Object.entries(options)
  const secret = entries.filter(([name]) => names.includes(name))
  return {
    options: JSON.stringify(Object.fromEntries(entries.filter(([name]) => !names.includes(name)))),
    options_cipher:
      secret.length === 0
        ? null
        : secretBox.seal(JSON.stringify(Object.fromEntries(secret)), `${OPTIONS_CONTEXT}:${id}`),
  }
}

/**
 * The options of a credential, secret ones included. One that an earlier version stored in clear replaces the encrypted
 * one, which is older. Throws SecretBoxError if they cannot be decrypted.
 */
export function openOptions(
  secretBox: SecretBox,
  row: {
    readonly id: string
    readonly options: Readonly<Record<string, unknown>>
    readonly options_cipher: Buffer | null
  },
): JsonObject {
  const options = row.options as JsonObject
  if (row.options_cipher === null) return options
  const secret = JSON.parse(secretBox.open(row.options_cipher, `${OPTIONS_CONTEXT}:${row.id}`)) as JsonObject
  return { ...secret, ...options }
}

export function hasSecretOption(provider: string, options: JsonObject): boolean {
  return listSecretOptions(provider).some(name => Object.hasOwn(options, name))
}

export function listSecretOptions(provider: string): readonly string[] {
  const options = findProvider(provider)?.options ?? []
  return options.filter(({ secret }) => secret).map(({ name }) => name)
}
