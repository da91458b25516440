import { findEndUser } from '../../storage/end-users/end-users.ts'
import type { Services } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import type { z } from '../operation/zod.ts'
import { type EndUserResource, measureEndUsers, toEndUserResource } from './end-user-resource.ts'

/** Returns the current record with the name of its plan and its usage. */
export async function readEndUser(
  services: Pick<Services, 'db'>,
  id: string,
): Promise<z.output<typeof EndUserResource>> {
  const [measured] = await measureEndUsers(services, [orResourceNotFound(await findEndUser(services.db, id))])
  return toEndUserResource(orResourceNotFound(measured))
}
