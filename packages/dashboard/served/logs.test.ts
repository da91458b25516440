import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { RequestRecord } from '../../server/core/records/request-record.ts'
import { insertRecords } from '../../server/testing/harness/insert-records.ts'
import { requestRecord } from '../../server/testing/harness/request-record.ts'
import { DEVELOPMENT, describeDashboard } from '../testing/describe-dashboard.ts'
import { openWatchedPage } from '../testing/open-dashboard.ts'
import { type OwnerSession, openOwnerSession } from '../testing/sign-in.ts'

const LOGS = `${DEVELOPMENT}/logs`

describeDashboard('logs, and what they keep of requests', dashboard => {
  let owner: OwnerSession
  beforeAll(async () => {
    owner = await openOwnerSession(dashboard.browser, dashboard.app.controlUrl)
  })
  beforeEach(() => dashboard.watched.context.addCookies(owner.cookies))

  const open = async (address: string): Promise<void> => {
    const { app, page } = dashboard
    await page.goto(app.controlUrl + address)
    await page.getByRole('button', { name: /^Environment: / }).waitFor()
  }
  /** Writes records of the last minutes, the newest first, and returns their request ids. */
  const insert = async (changes: readonly Partial<RequestRecord>[]): Promise<string[]> => {
    const { app } = dashboard
    const { rows } = await app.database.pool.query('select * from environments where id = $1', [
      app.developmentId,
    ])
    const records = changes.map((change, index) =>
      requestRecord(rows[0], randomUUID(), Date.now() - (index + 1) * 1_000, change),
    )
    const { rejected } = await insertRecords(app.database.pool, records)
    expect(rejected).toEqual([])
    return records.map(record => record.request_id)
  }
  const rowIds = async (of: Page): Promise<(string | undefined)[]> => {
    const links = of.getByRole('region', { name: 'Requests' }).getByRole('link')
    await links.first().waitFor()
    const addresses = await links.evaluateAll(all => all.map(link => (link as unknown as URL).pathname))
    return addresses.map(address => address.split('/').at(-1))
  }

  test('what matches is drawn over time, a bar narrows the time, and metadata is a filter', async () => {
    const { page, watched } = dashboard
    const ann = { end_user_id: 'ann-of-the-chart' }
    await insert([ann, { ...ann, status: 503, error_code: 'timeout' }, { ...ann, metadata: { team: 'web' } }])
    await open(`${LOGS}?end_user_id=ann-of-the-chart&range=1h`)
    const chart = page.getByRole('figure').filter({ hasText: 'Matching requests' })
    await chart.getByText('3 requests.').waitFor()
    await chart.getByText('Show as table').click()
    const cells = await chart.getByRole('cell').allTextContents()
    const numbers = cells.filter((_, index) => index % 3 > 0).map(Number)
    const sumOf = (column: number): number =>
      numbers.filter((_, index) => index % 2 === column).reduce((sum, each) => sum + each, 0)
    expect([sumOf(0), sumOf(1)]).toEqual([2, 1])
    await watched.expectClean()
    await page.getByLabel('Metadata').fill('team=web')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1 request that matches').waitFor()
    expect(new URL(page.url()).searchParams.get('metadata.team')).toBe('web')
    await chart.locator('.u-over').click()
    await page.waitForURL(url => url.searchParams.has('from'))
    const { searchParams } = new URL(page.url())
    const [from, to] = ['from', 'to'].map(name => Date.parse(searchParams.get(name) ?? ''))
    expect((to ?? 0) - (from ?? 0)).toBe(60_000)
    await page.getByRole('heading', { name: 'No request matches' }).waitFor()
    await page.getByRole('button', { name: 'Clear metadata.team' }).waitFor()
  })

  test('a drag over the chart narrows the time to that of its bars, and a small movement is a click', async () => {
    const { page, watched } = dashboard
    await open(`${LOGS}?range=1h`)
    const plot = page.getByRole('figure').filter({ hasText: 'Matching requests' }).locator('.u-over')
    const drag = async (share: number): Promise<number> => {
      const { x, y, width, height } = (await plot.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
      const from = x + width / 4
      await page.mouse.move(from, y + height / 2)
      await page.mouse.down()
      await page.mouse.move(from + (width * share) / 2, y + height / 2)
      await page.mouse.move(from + width * share, y + height / 2)
      await page.mouse.up()
      await page.waitForURL(url => url.searchParams.has('from'))
      const { searchParams } = new URL(page.url())
      return Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')
    }
    const dragged = await drag(0.5)
    const chosen = new URL(page.url()).searchParams.get('from')
    await page.getByLabel('Status').selectOption('5xx')
    await page.waitForURL(url => url.searchParams.has('status'))
    expect(new URL(page.url()).searchParams.get('from')).toBe(chosen)
    await page.goBack()
    expect(dragged).toBeGreaterThan(28 * 60_000)
    expect(dragged).toBeLessThan(33 * 60_000)
    await page.goBack()
    await page.waitForURL(url => !url.searchParams.has('from'))
    await plot.waitFor()
    expect(await drag(0.002)).toBe(60_000)
    await watched.expectClean()
  })

  test('five filters give the same rows after a reload, by Back and in another browser', async () => {
    const { app, browser, page } = dashboard
    const { id: keyId } = await app.createKey({ name: 'for-five-filters' })
    const matching = {
      key_id: keyId,
      status: 503,
      error_code: 'provider_overloaded',
      provider: 'openai',
      model: 'gpt-4o',
      end_user_id: 'zoë',
      total_ms: 900,
    }
    const others = [{ total_ms: 3 }, { end_user_id: 'bob' }, { provider: 'groq' }, { status: 500 }]
    const ids = await insert([matching, ...others.map(other => ({ ...matching, ...other })), matching])
    const expected = [ids[0], ids.at(-1)]
    const search = new URLSearchParams({
      key_id: keyId,
      status: '503',
      provider: 'openai',
      end_user_id: 'zoë',
      min_latency_ms: '800',
    })
    const address = `${LOGS}?${search}`
    await open(address)
    expect(await rowIds(page)).toEqual(expected)
    await page.reload()
    expect(await rowIds(page)).toEqual(expected)
    await page.getByRole('region', { name: 'Requests' }).getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    await page.goBack()
    expect(await rowIds(page)).toEqual(expected)
    const other = await openWatchedPage(browser, { storageState: owner })
    await other.page.goto(page.url())
    expect(await rowIds(other.page)).toEqual(expected)
    await other.context.close()
  })

  test('filters by several values, by what must not match, by endpoint, stream and id, and saves the rows as CSV', async () => {
    const { app, page, watched } = dashboard
    const eve = { end_user_id: 'eve-of-the-filters' }
    const ids = await insert([
      { ...eve, model: 'm-one', stream: true },
      { ...eve, model: 'm-two', endpoint: 'embeddings', surface: '=cmd' },
      { ...eve, model: 'm-three' },
      { ...eve, model: null, model_requested: null, status: 429 },
    ])
    await open(`${LOGS}?end_user_id=${eve.end_user_id}`)
    expect(await rowIds(page)).toEqual(ids)
    await page.getByLabel('Model').fill('m-one, m-two')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('2 requests that match').waitFor()
    expect(await rowIds(page)).toEqual(ids.slice(0, 2))
    await page.getByLabel('Endpoint').selectOption('embeddings')
    await page.getByText('1 request that matches').waitFor()
    expect(await rowIds(page)).toEqual([ids[1]])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('logs-default-development.csv')
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n')
    expect(lines).toHaveLength(3)
    expect(lines[1]).toContain(`,${`${ids[1]},200,,embeddings,'=cmd,`}`)
    await page.getByLabel('Endpoint').selectOption('')
    await page.getByLabel('Model').fill('!m-one, !m-two')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(url => url.searchParams.has('not.model'))
    await page.getByText('2 requests that match').waitFor()
    expect(await rowIds(page)).toEqual(ids.slice(2))
    await page.reload()
    expect(await rowIds(page)).toEqual(ids.slice(2))
    await page.goto(`${app.controlUrl}${LOGS}?end_user_id=${eve.end_user_id}&not.status=4xx&stream=false`)
    await page.getByRole('button', { name: 'Not status: 4xx' }).waitFor()
    expect(await rowIds(page)).toEqual(ids.slice(1, 3))
    await page.getByRole('button', { name: 'Not status: 4xx' }).click()
    await page.getByText('3 requests that match').waitFor()
    await page.goto(`${app.controlUrl}${LOGS}?request_id=${ids[0]?.slice(0, 13)}`)
    expect(await rowIds(page)).toEqual([ids[0]])
    await watched.expectClean()
  })

  test('the requests beside one are those of its filter, and the way back keeps the filter', async () => {
    const { app, page, watched } = dashboard
    const { id: keyId } = await app.createKey({ name: 'for-neighbours' })
    const [bad, good] = [{ key_id: keyId, status: 500, error_code: 'internal_error' }, { key_id: keyId }]
    const [first, , second, , third] = await insert([bad, good, bad, good, bad])
    await open(`${LOGS}?key_id=${keyId}&status=5xx`)
    expect(await rowIds(page)).toEqual([first, second, third])
    // The second row, by the keyboard.
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const isOpen = (id: string | undefined) => page.waitForURL(`**/logs/${id}`)
    await isOpen(second)
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    await watched.expectClean()
    await page.keyboard.press(']')
    await isOpen(third)
    expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0)
    await page.keyboard.press(']')
    await page.keyboard.press('[')
    await isOpen(second)
    await page.getByRole('link', { name: 'Newer' }).click()
    await isOpen(first)
    await page.getByRole('link', { name: '← Logs' }).click()
    expect(await rowIds(page)).toEqual([first, second, third])
    expect(new URL(page.url()).searchParams.get('status')).toBe('5xx')
  })

  test('the live tail shows only what matches, and asks for nothing while the page is hidden', async () => {
    const { app, page, watched } = dashboard
    const { id: keyId } = await app.createKey({ name: 'for-the-tail' })
    const [first] = await insert([{ key_id: keyId, status: 500, error_code: 'internal_error' }])
    await page.clock.install()
    await open(`${LOGS}?key_id=${keyId}&status=5xx&tail=1`)
    expect(await rowIds(page)).toEqual([first])
    const asked = (): number => watched.sent.filter(each => each.includes('after=')).length
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
         Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${isHidden ? 'hidden' : 'visible'}' });
         document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
      )
    const { rows } = await app.database.pool.query('select * from environments where id = $1', [
      app.developmentId,
    ])
    const later = [500, 200].map(status =>
      requestRecord(rows[0], randomUUID(), Date.now() + 60_000 + status, {
        key_id: keyId,
        status,
        error_code: status === 500 ? 'internal_error' : null,
      }),
    )
    await insertRecords(app.database.pool, later)
    await page.clock.runFor(15_000)
    await page.getByRole('status').getByText('1 new request', { exact: true }).waitFor({ state: 'attached' })
    expect(await rowIds(page)).toEqual([later[0]?.request_id, first])

    await hide(true)
    const before = watched.sent.length
    const tailed = asked()
    await page.clock.runFor(300_000)
    expect(watched.sent.slice(before)).toEqual([])
    await hide(false)
    await page.clock.runFor(15_000)
    await expect.poll(asked, { timeout: 20_000 }).toBeGreaterThan(tailed)
  })

  test('the parts of a request add up to its time and its cost', async () => {
    const { app, page } = dashboard
    const pricing = { input_usd_per_mtok: 2.5, output_usd_per_mtok: 10, cached_input_usd_per_mtok: 0.5 }
    const path = `/v1/environments/${app.developmentId}/custom-models`
    await app.manage('POST', path, { model: 'custom/own', capabilities: ['chat'], pricing })
    const attempt = { provider: 'custom', model: 'own', credential_id: randomUUID(), error: null }
    const [id] = await insert([
      {
        provider: 'custom',
        model: 'custom/own',
        sandbox: false,
        stream: true,
        cache_write_tokens: 0,
        cost_nano_usd: 127_000,
        queue_ms: 20,
        first_byte_ms: 500,
        total_ms: 1_000,
        attempts: [
          { ...attempt, status: 503, error: 'provider_overloaded', start_ms: 20, ms: 180 },
          // The gateway records how long a stream took to begin.
          { ...attempt, status: 200, start_ms: 400, ms: 90 },
        ],
      },
    ])
    await open(`${LOGS}/${id}`)
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    const details = page.locator('dl.description-list > div')
    const texts = await details.allInnerTexts()
    const dollars = texts
      .filter(text => text.startsWith('Cost of '))
      .map(text => Number(/= \$([\d.]+)$/.exec(text)?.[1]))
    expect(dollars).toEqual([0.000025, 0.000002, 0.0001])
    expect(texts.find(text => text.startsWith('Cost\n'))).toBe('Cost\n$0.000127')
    await page.getByText('after a pause of 200 ms').waitFor()
    await page.getByText('$0.000127 after 1.00 s').waitFor()
    // Each span begins where the one before it and the pause have ended, and the last one ends with the request.
    const spans = await page
      .locator('.timeline .span')
      .evaluateAll(all =>
        all.map(each => (each as unknown as { style: { left: string; width: string } }).style),
      )
    expect(spans.map(({ left, width }) => [parseFloat(left), parseFloat(width)])).toEqual([
      [0, 2],
      [2, 18],
      [40, 60],
    ])
  })

  test('a model without a price is unpriced, never free, in the list, on its page and on the overview', async () => {
    const { app, page } = dashboard
    const unpriced = { provider: 'custom', model: 'no-price', sandbox: false, cost_nano_usd: null }
    const [id] = await insert([unpriced, unpriced])
    await open(`${LOGS}?model=no-price`)
    const rows = page.getByRole('region', { name: 'Requests' }).getByRole('row')
    await rows.nth(2).getByText('unpriced').waitFor()
    await page.goto(`${app.controlUrl}${LOGS}/${id}`)
    await page.getByText('3 ms, unpriced,').waitFor()
    await page.goto(`${app.controlUrl}${DEVELOPMENT}/overview`)
    const model = page
      .getByRole('region', { name: 'Top models' })
      .getByRole('listitem')
      .filter({ hasText: 'no-price' })
    await model.getByText('unpriced').waitFor()
    await page.getByText('+ 2 unpriced').waitFor()
  })

  test('a body that looks like a page runs nothing and loads nothing', async () => {
    const { page, watched } = dashboard
    const hostile = [
      '<script>window.hurt = true</script><img src="https://evil.example/a.png" onerror="window.hurt = true">',
      '![a](https://evil.example/b.png) [click](javascript:window.hurt=true)',
      '<iframe src="https://evil.example"></iframe><style>body { display: none }</style>',
    ].join('\n')
    const request = { model: 'x', messages: [{ role: 'user', content: hostile }] }
    const answer = { choices: [{ message: { role: 'assistant', content: hostile } }] }
    const [id] = await insert([
      {
        request_body: JSON.stringify(request),
        response_body: JSON.stringify(answer),
        metadata: { '<b>page</b>': hostile.slice(0, 60) },
      },
    ])
    await open(`${LOGS}/${id}`)
    const messages = page.getByRole('region', { name: 'Conversation' }).getByRole('listitem')
    await messages.nth(1).waitFor()
    expect(await messages.first().innerText()).toContain('<script>window.hurt = true</script>')
    await page.getByRole('button', { name: 'Raw' }).click()
    await page.getByRole('heading', { name: 'Answer' }).waitFor()
    expect(await page.evaluate('window.hurt')).toBeUndefined()
    expect(await page.locator('main img, main iframe, main script, main style').count()).toBe(0)
    expect(await page.locator('main a[href^="javascript"], main a[href*="evil"]').count()).toBe(0)
    expect(watched.sent.filter(each => each.includes('evil.example'))).toEqual([])
    await watched.expectClean()
  })

  test('a viewer gets no body and the reason, and a write that is forced is refused', async () => {
    const { app, browser } = dashboard
    const [id] = await insert([{}])
    const guest = await openWatchedPage(browser)
    const { page } = guest
    const invited = await app.manage('POST', `/v1/orgs/${app.orgId}/members`, {
      email: 'vi@example.com',
      role: 'viewer',
    })
    await page.goto(invited.body.accept_url.replace(/^https?:\/\/[^/]+/, app.controlUrl))
    await page.getByLabel('Password').fill('another long password')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('button', { name: /^Environment: / }).waitFor()
    await page.goto(`${app.controlUrl}${LOGS}/${id}`)
    await page.getByText('Bodies need the developer role.').waitFor()
    expect(await page.content()).not.toContain('secret')
    const force = (method: string, path: string, body: unknown) =>
      page.evaluate(
        `fetch('${path}', { method: '${method}', body: '${JSON.stringify(body)}', headers: {
          'content-type': 'application/json', 'X-Rideau-CSRF': '1' } }).then(answer => answer.status)`,
      )
    const environment = `/v1/environments/${app.developmentId}`
    expect([
      await force('POST', `${environment}/keys`, { name: 'mine' }),
      await force('POST', `${environment}/limits`, { scope: 'environment', metric: 'requests', limit: 1 }),
      await force('PATCH', environment, { log_capture: 'full' }),
      await force('PATCH', `/v1/orgs/${app.orgId}`, { name: 'Mine' }),
    ]).toEqual([403, 403, 403, 403])
    await guest.expectClean()
    await guest.context.close()
  })
})
