import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { insertRecords } from '../../server/testing/harness/insert-records.ts'
import { requestRecord } from '../../server/testing/harness/request-record.ts'
import { describeDashboard } from '../testing/describe-dashboard.ts'

describeDashboard('the live tail of an empty list', dashboard => {
  test('shows the first request that matches, and then the others', async () => {
    const { app, page, watched } = dashboard
    const { id: keyId, key } = await app.createKey({ name: 'nothing-yet' })
    const ask = async (): Promise<string> => {
      const request = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
      const requestId = (await app.call('/v1/chat', request, { key })).headers.get('x-request-id') ?? ''
      await app.findLog(requestId)
      return requestId
    }
    await page.clock.install()
    await dashboard.openAsOwner(`logs?key_id=${keyId}&tail=1`)
    await page.getByRole('heading', { name: 'No request matches' }).waitFor()
    const links = page.getByRole('region', { name: 'Requests' }).getByRole('link')
    const expectRows = async (announced: string, ids: readonly string[]): Promise<void> => {
      await page.clock.runFor(15_000)
      await page.getByRole('status').getByText(announced, { exact: true }).waitFor({ state: 'attached' })
      const addresses = await links.evaluateAll(all => all.map(link => (link as unknown as URL).pathname))
      expect(addresses.map(address => address.split('/').at(-1))).toEqual(ids)
    }
    const first = await ask()
    await expectRows('1 new request', [first])
    const second = await ask()
    await expectRows('2 new requests', [second, first])
    await watched.expectClean()
  })
})

describeDashboard('the live tail of a list', dashboard => {
  test('shows each request once, also those that ended before the newest one and were stored after it', async () => {
    const { app, page, watched } = dashboard
    const { id: keyId } = await app.createKey({ name: 'many-writers' })
    const { rows } = await app.database.pool.query('select * from environments where id = $1', [
      app.developmentId,
    ])
    const store = async (secondsAgo: number, ms: number): Promise<string> => {
      const at = Date.now() - secondsAgo * 1000
      const record = requestRecord(rows[0], randomUUID(), at, { key_id: keyId, total_ms: ms })
      expect(await insertRecords(app.database.pool, [record])).toEqual({ rejected: [] })
      return record.request_id
    }
    const oldest = await store(600, 500_000)
    const newest = await store(120, 1_000)
    await page.clock.install()
    await dashboard.openAsOwner(`logs?key_id=${keyId}&tail=1`)
    const links = page.getByRole('region', { name: 'Requests' }).getByRole('link')
    const listed = async () =>
      (await links.evaluateAll(all => all.map(link => (link as unknown as URL).pathname))).map(address =>
        address.split('/').at(-1),
      )
    await expect.poll(listed).toEqual([newest, oldest])
    const late = await store(3_000, 1_000)
    await page.clock.runFor(15_000)
    await page.getByRole('status').getByText('1 new request', { exact: true }).waitFor({ state: 'attached' })
    expect(await listed()).toEqual([late, newest, oldest])
    const next = await store(1, 1)
    await page.clock.runFor(15_000)
    await page.getByRole('status').getByText('2 new requests', { exact: true }).waitFor({ state: 'attached' })
    expect(await listed()).toEqual([next, late, newest, oldest])
    await watched.expectClean()
  })
})
