import { findFederatedAuth } from '../../storage/federated-auth.ts'
import type { Services } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { type FederatedAuthResource, toFederatedAuthResource } from './federated-auth-resource.ts'

/** Returns the project's record; undefined if none is set. */
export async function readFederatedAuth(
  { db }: Pick<Services, 'db'>,
  projectId: string,
): Promise<z.output<typeof FederatedAuthResource> | undefined> {
  const row = await findFederatedAuth(db, projectId)
  return row === undefined ? undefined : toFederatedAuthResource(row)
}
