import { openSecretBox } from '../../server/core/access/secret-box.ts'
import { systemClock } from '../../server/core/clock.ts'
import { openIds } from '../../server/core/ids.ts'
import { systemRandom } from '../../server/core/random.ts'
import { fillDemo } from '../../server/demo/fill-demo.ts'
import type { FreshDatabase } from '../../server/testing/harness/database.ts'

/** Fills a test's new database with the demo's data, `rows` requests of it. The owner signs in as sign-in.ts does. */
export async function fillTestDemo(
  { db, pool }: Pick<FreshDatabase, 'db' | 'pool'>,
  masterKey: Buffer,
  rows: number,
): Promise<void> {
  const secretBox = openSecretBox(masterKey, systemRandom)
  const newId = openIds(systemClock, systemRandom)
  const deps = { db, pool, secretBox, clock: systemClock, random: systemRandom, newId }
  await fillDemo(deps, { rows, password: 'a long enough password', auditEntries: 120 })
}
