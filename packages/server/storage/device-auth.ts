import type { DeviceAuthRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function findDeviceAuth(db: Db, projectId: string): Promise<DeviceAuthRow | undefined> {
  return await db.selectFrom('device_auth').selectAll().where('project_id', '=', projectId).executeTakeFirst()
}

/** Inserts the project's row, or replaces all of it except `created_at`. Returns the stored row. */
export async function upsertDeviceAuth(db: Db, row: DeviceAuthRow): Promise<DeviceAuthRow> {
  const { project_id: _, created_at: __, ...replaced } = row
  return await db
    .insertInto('device_auth')
    .values(row)
    .onConflict(conflict => conflict.column('project_id').doUpdateSet(replaced))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Returns the removed row; undefined if the project had none. */
export async function removeDeviceAuth(db: Db, projectId: string): Promise<DeviceAuthRow | undefined> {
  return await db
    .deleteFrom('device_auth')
    .where('project_id', '=', projectId)
    .returningAll()
    .executeTakeFirst()
}
