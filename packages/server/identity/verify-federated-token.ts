import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import type { KeySetCache } from './key-set-cache.ts'
import { findOwnConfig, type IdentityResult, verifyIdentityToken } from './verify-identity-token.ts'

/**
 * Verifies a token of an identity provider with cached keys. A token that names an unknown key is verified a second time if
 * its issuer has new keys. `now` is Unix milliseconds. Throws FederatedConfigError if the keys of its issuer cannot be had.
 */
export async function verifyFederatedToken(
  token: string,
  config: FederatedConfig,
  cache: KeySetCache,
  now: number,
): Promise<IdentityResult> {
  const own = findOwnConfig(token, config)
  if (own === undefined) return verifyIdentityToken(token, config, new Map(), now)
  const keySets = await cache.get(own)
  const result = await verifyIdentityToken(token, own, keySets, now)
  if (result.valid || result.hasUnknownKey !== true) return result
  const newer = await cache.refresh(own, keySets)
  return newer === keySets ? result : verifyIdentityToken(token, own, newer, now)
}
