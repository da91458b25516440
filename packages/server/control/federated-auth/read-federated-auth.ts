import { findFederatedAuth } from '../../storage/end-users/federated-auth.ts'
import type { Services } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { type FederatedAuthResource, toFederatedAuthResource } from './federated-auth-resource.ts'

/** The message of a 404: the project exists, and the caller may see it. */
export const NO_FEDERATED_AUTH = 'This project has no federated auth: it is not configured.'

/** Returns the project's record; undefined if none is set. */
export async function readFederatedAuth(
  { db }: Pick<Services, 'db'>,
  projectId: string,
): Promise<z.output<typeof FederatedAuthResource> | undefined> {
  const row = await findFederatedAuth(db, projectId)
  return row === undefined ? undefined : toFederatedAuthResource(row)
}
