import { Fault } from '../../core/fault.ts'
import type { FederatedConfig } from '../../core/tenancy/federated-config.ts'
import { chargeLookupsTo } from '../../http/egress/egress.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import { FederatedConfigError, fetchKeySets, type KeySets } from '../../identity/key-sets.ts'
import type { Services } from '../operation/operation.ts'

/** Fetches the key sets of a configuration anew. Throws 400 `federated_config_invalid` if that fails, and like `HostSlots.run`. */
export async function loadKeySets(
  { egress, hostSlots }: Pick<Services, 'egress' | 'hostSlots'>,
  config: FederatedConfig,
  orgId: string,
): Promise<KeySets> {
  try {
    const policy = chargeLookupsTo(egress, toLookupOwner(orgId))
    // By document, since a configuration of four issuers fetches four at once.
    return await fetchKeySets(config, policy, call => hostSlots.run(orgId, call))
  } catch (error) {
    if (!(error instanceof FederatedConfigError)) throw error
    throw new Fault('federated_config_invalid', error.message, { param: error.field })
  }
}
