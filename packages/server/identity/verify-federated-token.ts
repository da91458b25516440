import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import type { KeySetCache } from './key-set-cache.ts'
import { type IdentityResult, verifyIdentityToken } from './verify-identity-token.ts'

/**
 * Verifies a token of an identity provider with cached keys. A token that names an unknown key is verified a second time if
 * the provider has new keys. `now` is Unix milliseconds. Throws FederatedConfigError if the provider's keys cannot be had.
 */
export async function verifyFederatedToken(
  token: string,
  config: FederatedConfig,
  cache: KeySetCache,
  now: number,
): Promise<IdentityResult> {
  const keySets = await cache.get(config)
  const result = await verifyIdentityToken(token, config, keySets, now)
  if (result.valid || result.hasUnknownKey !== true) return result
  const newer = await cache.refresh(config, keySets)
  return newer === keySets ? result : verifyIdentityToken(token, config, newer, now)
}
