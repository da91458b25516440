import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createKeyText, hashKeyText } from '../../core/access/key-format.ts'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { openTestApp } from '../../testing/harness/app.ts'
import { callWithKey } from '../../testing/harness/idempotent-calls.ts'
import { addCredential, addKey, addTree, newId } from '../../testing/harness/storage-rows.ts'

/** The sandbox answers with as much text. */
const BODY = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'x'.repeat(600_000) }] }

test('an organization that has stored its share in one environment keeps no answer in another, and another organization does', async () => {
  const masterKey = randomBytes(32)
  const app = await openTestApp({
    RIDEAU_IDEMPOTENCY_BYTES: '1048576',
    RIDEAU_MASTER_KEY: masterKey.toString('base64'),
  })
  try {
    const { db } = app.database
    const { environment } = await addTree(db)
    const stranger = createKeyText({ kind: 'secret', environment: 'development' }, systemRandom)
    await addKey(db, environment, { hash: hashKeyText(stranger) })
    const id = newId()
    const secret_cipher = openSecretBox(masterKey, systemRandom).seal('', `provider_credentials:${id}`)
    await addCredential(db, environment, { id, provider: 'sandbox', secret_cipher })
    const project = await app.manage('POST', `/v1/orgs/${app.orgId}/projects`, { name: 'Other' })
    const { body } = await app.manage('GET', `/v1/projects/${project.body.id}/environments`)
    const development = body.data.find((each: { name: string }) => each.name === 'development')
    const { key: ofOtherProject } = await app.createKey({}, development.id)
    const askTwice = async (name: string, key: string): Promise<string[]> => {
      const ask = () => callWithKey(app, name, { body: BODY, key })
      return [await ask(), await ask()]
    }
    expect(await askTwice('first', app.secretKey)).toEqual(['200 made', '200 replayed'])
    expect(await askTwice('second', app.secretKey)).toEqual(['200 made', '200 made'])
    expect(await askTwice('third', ofOtherProject)).toEqual(['200 made', '200 made'])
    expect(await askTwice('fourth', stranger)).toEqual(['200 made', '200 replayed'])
  } finally {
    await app.close()
  }
})
