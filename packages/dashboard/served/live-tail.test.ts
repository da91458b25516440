import { expect, test } from 'vitest'
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
