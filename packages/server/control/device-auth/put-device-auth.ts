import { Fault } from '../../core/fault.ts'
import { findDeviceAuth, upsertDeviceAuth } from '../../storage/end-users/device-auth.ts'
import type { DeviceAuthRow } from '../../storage/policy-tables.ts'
import { defineOperation, type Services } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { DeviceAuthBody } from './device-auth-body.ts'
import { DeviceAuthResource, toDeviceAuthResource } from './device-auth-resource.ts'
import { readDeviceAuth } from './read-device-auth.ts'

export const putDeviceAuth = defineOperation('PUT /v1/projects/{projectId}/device-auth', {
  name: 'device_auth.put',
  summary:
    "Sets or replaces the apps whose devices may get client tokens with the project's publishable keys.",
  access: { role: 'admin', of: 'project' },
  body: DeviceAuthBody,
  response: { 200: DeviceAuthResource },
  before: ({ services, resource }) => readDeviceAuth(services, resource.id),
  handle: async ({ services, resource, body }) => {
    const stored = await findDeviceAuth(services.db, resource.id)
    const { ios, android } = body
    const now = new Date(services.clock.now())
    const row = await upsertDeviceAuth(services.db, {
      project_id: resource.id,
      org_id: resource.org_id,
      ios_team_id: ios?.team_id ?? null,
      ios_bundle_ids: ios?.bundle_ids ?? null,
      ios_environment: ios?.environment ?? null,
      device_check_key_id: ios?.device_check?.key_id ?? null,
      device_check_cipher: sealDeviceCheck(services, resource.id, ios?.device_check, stored),
      android_package_names: android?.package_names ?? null,
      android_signing_digests: android?.signing_digests ?? null,
      created_at: now,
      updated_at: now,
    })
    return toDeviceAuthResource(row)
  },
})

type DeviceCheck = NonNullable<z.output<typeof DeviceAuthBody>['ios']>['device_check']

/** Returns the private key sealed. The stored key stays if the same key_id is sent without one. */
function sealDeviceCheck(
  { secretBox }: Pick<Services, 'secretBox'>,
  projectId: string,
  deviceCheck: DeviceCheck,
  stored: DeviceAuthRow | undefined,
): Buffer | null {
  if (deviceCheck == null) return null
  if (deviceCheck.private_key != null)
    return secretBox.seal(deviceCheck.private_key, `device_auth:${projectId}`)
  const kept = stored?.device_check_key_id === deviceCheck.key_id ? stored.device_check_cipher : null
  if (kept !== null) return kept
  throw new Fault('invalid_request', 'private_key is required with a new key_id.', {
    param: 'ios.device_check.private_key',
  })
}
