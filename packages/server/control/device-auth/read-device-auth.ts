import { findDeviceAuth } from '../../storage/end-users/device-auth.ts'
import type { Services } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { type DeviceAuthResource, toDeviceAuthResource } from './device-auth-resource.ts'

/** The message of a 404: the project exists, and the caller may see it. */
export const NO_DEVICE_AUTH = 'This project has no device auth: it is not configured.'

/** Returns the project's record; undefined if none is set. */
export async function readDeviceAuth(
  { db }: Pick<Services, 'db'>,
  projectId: string,
): Promise<z.output<typeof DeviceAuthResource> | undefined> {
  const row = await findDeviceAuth(db, projectId)
  return row === undefined ? undefined : toDeviceAuthResource(row)
}
