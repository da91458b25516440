import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { SecretBoxError } from '../../core/access/secret-box.ts'
import { Fault } from '../../core/fault.ts'
import {
  type CredentialChange,
  lockProviderCredential,
  type ProviderCredentialRow,
  updateProviderCredential,
} from '../../storage/models/provider-credentials.ts'
import { hasSecretOption, openOptions, sealOptions } from '../../storage/secrets/secret-options.ts'
import { defineOperation, type Services } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import type { z } from '../operation/zod.ts'
import { assertBaseUrl } from './assert-base-url.ts'
import { CredentialChanges, parseApiKey, parseBaseUrl } from './credential-body.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'
import { sealApiKey } from './new-credential.ts'
import { parseOptions } from './parse-options.ts'

export const updateCredential = defineOperation('PATCH /v1/provider-credentials/{id}', {
  name: 'provider_credentials.update',
  summary:
    'Changes a provider credential. A change of `base_url` or `options` needs `api_key` in the same call, and a change of `base_url` needs `options` too if they have a secret one: no stored secret is sent to a new host.',
  access: { role: 'developer', of: 'provider_credential' },
  body: CredentialChanges,
  response: { 200: CredentialResource },
  handle: async ({ services, resource, body }) => {
    if (body.base_url !== undefined) {
      const baseUrl = parseBaseUrl(getProvider(resource), body.base_url)
      await assertBaseUrl(services, resource.org_id, resource.provider, baseUrl)
    }
    return await services.db.transaction().execute(async tx => {
      // Locks the row, so that the stored key and the address are checked together.
      const row = orResourceNotFound(await lockProviderCredential(tx, resource.id))
      const now = new Date(services.clock.now())
      const change = toChange(services, row, body, now)
      return toCredentialResource(await updateProviderCredential(tx, row.id, change, now))
    })
  },
})

function getProvider(row: ProviderCredentialRow): Provider {
  const provider = findProvider(row.provider)
  if (provider === undefined) throw new Error(`a stored credential of an unknown provider: ${row.provider}`)
  return provider
}

function toChange(
  services: Pick<Services, 'secretBox'>,
  row: ProviderCredentialRow,
  body: z.output<typeof CredentialChanges>,
  now: Date,
): CredentialChange {
  const provider = getProvider(row)
  const { name, weight } = body
  const target = toTargetChange(services, provider, row, body)
  const apiKey = body.api_key === undefined ? undefined : parseApiKey(provider, body.api_key)
  if (target !== undefined && apiKey === undefined && row.key_fingerprint !== 'none') {
    throw new Fault(
      'invalid_request',
      'A change of base_url or options needs the api_key in the same call.',
      {
        param: 'api_key',
      },
    )
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(weight === undefined ? {} : { weight: weight ?? 1 }),
    ...(apiKey === undefined ? {} : sealApiKey(services.secretBox, row.id, apiKey)),
    // The result of a validation applies to one key and one host only.
    ...(apiKey === undefined && target === undefined
      ? {}
      : {
          last_validated_at: null,
          validation_error: null,
          // The next run of the refresh validates the changed credential.
          refresh_at: row.refresh_at === null ? null : now,
          refresh_failures: 0,
        }),
    ...(target === undefined ? {} : { ...target, discovered_models: [] }),
  }
}

/** Returns the new destination of the key; undefined if it does not change. */
function toTargetChange(
  { secretBox }: Pick<Services, 'secretBox'>,
  provider: Provider,
  row: ProviderCredentialRow,
  body: z.output<typeof CredentialChanges>,
): Pick<CredentialChange, 'base_url' | 'options' | 'options_cipher'> | undefined {
  const baseUrl = body.base_url === undefined ? row.base_url : parseBaseUrl(provider, body.base_url)
  const isMoved = baseUrl !== row.base_url
  if (body.options === undefined) {
    if (!isMoved) return undefined
    if (row.options_cipher === null && !hasSecretOption(row.provider, row.options as JsonObject))
      return { base_url: baseUrl }
    const message = 'A change of base_url needs options in the same call, since they have a secret one.'
    throw new Fault('invalid_request', message, { param: 'options' })
  }
  const options = parseOptions(provider, body.options ?? {})
  if (!isMoved && isDeepStrictEqual(options, findKnownOptions(secretBox, row))) return undefined
  return { base_url: baseUrl, ...sealOptions(secretBox, row, options) }
}

/** Returns the stored options; undefined if the master key that encrypted them is lost, since new ones repair the credential. */
function findKnownOptions(
  secretBox: Services['secretBox'],
  row: ProviderCredentialRow,
): JsonObject | undefined {
  try {
    return openOptions(secretBox, row)
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined
    throw error
  }
}
