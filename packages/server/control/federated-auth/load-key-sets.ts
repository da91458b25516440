import { Fault } from '../../core/fault.ts'
import type { FederatedConfig } from '../../core/tenancy/federated-config.ts'
import { chargeLookupsTo } from '../../http/egress.ts'
import { toLookupOwner } from '../../http/lookup-slots.ts'
import { FederatedConfigError, fetchKeySets, type KeySets } from '../../identity/key-sets.ts'
import type { Services } from '../operation/operation.ts'

/** Fetches the key sets of a configuration anew. Throws 400 `federated_config_invalid` if that fails. */
export async function loadKeySets(
  { egress }: Pick<Services, 'egress'>,
  config: FederatedConfig,
  orgId: string,
): Promise<KeySets> {
  try {
    return await fetchKeySets(config, chargeLookupsTo(egress, toLookupOwner(orgId)))
  } catch (error) {
    if (!(error instanceof FederatedConfigError)) throw error
    throw new Fault('federated_config_invalid', error.message, { param: error.field })
  }
}
