import type { DeviceAuthRow } from '../../storage/policy-tables.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const DeviceAuthResource = z
  .strictObject({
    project_id: uuid,
    ios: z
      .strictObject({
        team_id: z.string(),
        bundle_ids: z.array(z.string()),
        environment: z.enum(['production', 'development']),
        /** The private key is never returned. */
        device_check: z.strictObject({ key_id: z.string() }).nullable(),
      })
      .nullable(),
    android: z
      .strictObject({
        package_names: z.array(z.string()),
        signing_digests: z.array(z.string()).meta({ description: 'In lower-case hex.' }),
      })
      .nullable(),
    ...stamps,
  })
  .meta({ id: 'DeviceAuth' })

export function toDeviceAuthResource(row: DeviceAuthRow): z.output<typeof DeviceAuthResource> {
  const { ios_team_id, ios_environment, device_check_key_id, android_package_names } = row
  return {
    project_id: row.project_id,
    ios:
      ios_team_id === null || ios_environment === null
        ? null
        : {
            team_id: ios_team_id,
            bundle_ids: row.ios_bundle_ids ?? [],
            environment: ios_environment,
            device_check: device_check_key_id === null ? null : { key_id: device_check_key_id },
          },
    android:
      android_package_names === null
        ? null
        : { package_names: android_package_names, signing_digests: row.android_signing_digests ?? [] },
    ...toStamps(row),
  }
}
