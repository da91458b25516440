import type { Insertable, Selectable } from 'kysely'
import type { DeviceAuthRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export type StoredDeviceAuth = Selectable<DeviceAuthRow>

export async function findDeviceAuth(db: Db, projectId: string): Promise<StoredDeviceAuth | undefined> {
  return await db.selectFrom('device_auth').selectAll().where('project_id', '=', projectId).executeTakeFirst()
}

/** Makes the project's, or replaces all of it but the time it was made. */
export async function putDeviceAuth(db: Db, row: Insertable<DeviceAuthRow>): Promise<StoredDeviceAuth> {
  const { project_id: _, created_at: __, ...replaced } = row
  return await db
    .insertInto('device_auth')
    .values(row)
    .onConflict(conflict => conflict.column('project_id').doUpdateSet(replaced))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** What was there; undefined where the project had none. */
export async function removeDeviceAuth(db: Db, projectId: string): Promise<StoredDeviceAuth | undefined> {
  return await db
    .deleteFrom('device_auth')
    .where('project_id', '=', projectId)
    .returningAll()
    .executeTakeFirst()
}
