import type { Pool } from 'pg'
import type { DevicePlatform } from '../../core/tenancy/device-auth.ts'

/** A challenge that the gateway handed out. */
export interface NewChallenge {
  /** SHA-256 of the challenge. */
  readonly hash: Buffer
  readonly orgId: string
  readonly environmentId: string
  readonly now: Date
  readonly expiresAt: Date
}

/** Expired rows that each new challenge removes. More than one, so that they never pile up. */
const SWEPT = 10

/** Stores a challenge, and removes some of the environment's expired ones. */
export async function insertChallenge(pool: Pool, challenge: NewChallenge): Promise<void> {
  const { hash, orgId, environmentId, now, expiresAt } = challenge
  await pool.query({
    name: 'insert_challenge',
    text: `with expired as (
        select hash from device_challenges where environment_id = $3 and expires_at <= $4
        order by expires_at limit ${SWEPT} for update skip locked
      ), swept as (delete from device_challenges c using expired where c.hash = expired.hash)
      insert into device_challenges (hash, org_id, environment_id, expires_at) values ($1, $2, $3, $5)`,
    values: [hash, orgId, environmentId, now, expiresAt],
  })
}

/** Uses a challenge up. Of concurrent callers one gets true. False: unknown, of another environment, used or expired. */
export async function consumeChallenge(
  pool: Pool,
  environmentId: string,
  hash: Buffer,
  now: Date,
): Promise<boolean> {
  const { rows } = await pool.query<{ is_live: boolean }>({
    name: 'consume_challenge',
    text: `delete from device_challenges where hash = $1 and environment_id = $2
      returning expires_at > $3 as is_live`,
    values: [hash, environmentId, now],
  })
  return rows[0]?.is_live ?? false
}

/** A device's key that was attested. */
export interface Device {
  readonly id: string
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer
  readonly appId: string
  readonly counter: number
  /** What the platform said about the app and the device. */
  readonly statement: Readonly<Record<string, unknown>>
}

export interface NewDevice extends Device {
  readonly orgId: string
  readonly projectId: string
  readonly environmentId: string
  readonly platform: DevicePlatform
  readonly keyId: Buffer
  readonly receipt: Buffer | null
  readonly now: Date
}

/** Stores a device's key. False: it was attested before; the stored key and its counter stay. */
export async function insertDevice(pool: Pool, device: NewDevice): Promise<boolean> {
  const { id, orgId, projectId, environmentId, platform, keyId, publicKey, appId } = device
  const { counter, receipt, statement, now } = device
  const { rowCount } = await pool.query({
    name: 'insert_device',
    text: `insert into devices (id, org_id, project_id, environment_id, platform, key_id, public_key, app_id,
        sign_count, receipt, statement, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
      on conflict (environment_id, platform, key_id) do nothing`,
    values: [
      ...[id, orgId, projectId, environmentId, platform, keyId, publicKey, appId],
      ...[counter, receipt, JSON.stringify(statement), now],
    ],
  })
  return rowCount === 1
}

interface DeviceRow {
  readonly id: string
  readonly public_key: Buffer
  readonly app_id: string
  readonly sign_count: number
  readonly statement: Device['statement']
}

export async function findDevice(
  pool: Pool,
  environmentId: string,
  platform: DevicePlatform,
  keyId: Buffer,
): Promise<Device | undefined> {
  const { rows } = await pool.query<DeviceRow>({
    name: 'find_device',
    text: `select id, public_key, app_id, sign_count, statement from devices
      where environment_id = $1 and platform = $2 and key_id = $3`,
    values: [environmentId, platform, keyId],
  })
  const row = rows[0]
  if (row === undefined) return undefined
  const { id, public_key: publicKey, app_id: appId, sign_count: counter, statement } = row
  return { id, publicKey, appId, counter, statement }
}

/** Stores a larger counter. Of concurrent callers with one counter one gets true. False: it is not larger. */
export async function advanceCounter(pool: Pool, id: string, counter: number, now: Date): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'advance_counter',
    text: 'update devices set sign_count = $2, updated_at = $3 where id = $1 and sign_count < $2',
    values: [id, counter, now],
  })
  return rowCount === 1
}

/** The key from which each project's salt is made. */
export async function getDeviceSaltKey(pool: Pool): Promise<Buffer> {
  const { rows } = await pool.query<{ device_salt_key: Buffer }>('select device_salt_key from deployment')
  if (rows[0] === undefined) throw new Error('the table deployment has no row')
  return rows[0].device_salt_key
}
