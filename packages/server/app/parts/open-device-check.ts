import { systemClock } from '../../core/clock.ts'
import type { DeviceCheckSignal } from '../../gateway/mint/device-check-signal.ts'
import { chargeLookupsTo } from '../../http/egress/egress.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import { type DeviceCheckKey, queryDeviceCheck } from '../../identity/devices/apple/query-device-check.ts'
import { findDeviceAuth } from '../../storage/end-users/device-auth.ts'
import type { AppParts } from './app-parts.ts'

type Parts = Pick<AppParts, 'storage' | 'secretBox' | 'egress' | 'newId' | 'overrides'>

/** Asks Apple with the key that the project stored. The key is read for each token, since few devices are attested. */
export function openDeviceCheck({ storage, secretBox, egress, newId, overrides }: Parts): DeviceCheckSignal {
  return {
    async check(token, projectId) {
      const stored = await findDeviceAuth(storage.db, projectId)
      if (stored === undefined) return 'unknown'
      const key = openKey(stored, secretBox)
      if (key === undefined) return 'unknown'
      const policy = chargeLookupsTo(egress, toLookupOwner(stored.org_id))
      const origin = overrides.deviceCheckOrigin
      const bits = await queryDeviceCheck(token, key, {
        ...{ policy, now: systemClock.now(), transactionId: newId() },
        ...(origin === undefined ? {} : { origin }),
      })
      if (bits === undefined) return 'unknown'
      if (bits.bit1) return 'banned'
      return bits.bit0 ? 'seen' : 'ok'
    },
  }
}

type StoredDeviceAuth = NonNullable<Awaited<ReturnType<typeof findDeviceAuth>>>

/** undefined: the project has no key for DeviceCheck. */
function openKey(stored: StoredDeviceAuth, secretBox: Parts['secretBox']): DeviceCheckKey | undefined {
  const { ios_team_id: teamId, ios_environment: environment } = stored
  const { device_check_key_id: keyId, device_check_cipher: cipher } = stored
  if (teamId === null || environment === null || keyId === null || cipher === null) return undefined
  const privateKey = secretBox.open(cipher, `device_auth:${stored.project_id}`)
  return { teamId, keyId, privateKey, environment }
}
