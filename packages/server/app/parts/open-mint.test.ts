import { expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import type { EgressPolicy } from '../../http/egress/egress.ts'
import { SlowHandshakes } from '../../http/egress/slow-handshakes.ts'
import { LookupError } from '../../http/names/host-resolver.ts'
import { toLookupOwner, toTenant } from '../../http/names/lookup-slots.ts'
import { KeySetCache } from '../../identity/key-set-cache.ts'
import { fetchKeySets } from '../../identity/key-sets.ts'
import { openIdentityProvider, toFederatedConfig } from '../../testing/fakes/identity-provider.ts'
import { chargeToIssuer } from './open-mint.ts'

test('an organization without lookups of names fails no fetch of an issuer that others name too', async () => {
  const idp = await openIdentityProvider()
  const egress: EgressPolicy = {
    allowPrivate: true,
    owner: toLookupOwner(''),
    handshakes: new SlowHandshakes(),
    hosts: {
      async resolve(_, owner) {
        if (toTenant(owner) === 'hostile') throw new LookupError('timeout')
        return [{ address: '127.0.0.1', family: 4 }]
      },
    },
  }
  const cache = new KeySetCache({
    clock: systemClock,
    fetch: config => fetchKeySets(config, chargeToIssuer(egress, config)),
  })
  const jwksUrl = idp.jwksUrl.replace('127.0.0.1', 'issuer.example')
  const toConfig = (orgId: string) => toFederatedConfig(idp, { orgId, jwksUrl })
  try {
    await cache.get(toConfig('hostile')).catch(() => undefined)
    expect((await cache.get(toConfig('victim'))).get(idp.issuer)?.keys).toHaveLength(1)
  } finally {
    await idp.close()
  }
})
