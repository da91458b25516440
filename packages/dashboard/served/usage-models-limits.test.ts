import fs from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { toChange } from '../format/amounts.ts'
import { describeDashboard } from '../testing/describe-dashboard.ts'
import { seedWeeks } from '../testing/seed-weeks.ts'

describeDashboard('what is spent, served and limited', dashboard => {
  beforeAll(async () => {
    const { app } = dashboard
    await seedWeeks(app, Date.now())
    await app.manage('POST', `/v1/projects/${app.projectId}/budgets`, { limit_usd: 500, window: 'month' })
  })

  test('usage by model, month and end user has equal sums in the table, the bars and the file', async () => {
    const { app, page, watched } = dashboard
    // The last 30 days of the page are today and the 29 days before it.
    const from = new Date(Date.now() - 29 * 86_400_000).toISOString()
    const path = `/v1/environments/${app.developmentId}/usage?limit=100&from=${from}`
    const { body } = await app.manage('GET', path)
    const asked = body.data.reduce((sum: number, row: { requests: number }) => sum + row.requests, 0)
    const cost = body.data.reduce((sum: number, row: { cost_usd: number }) => sum + row.cost_usd, 0)
    await dashboard.openAsOwner('usage')
    const total = page.getByRole('row', { name: /^Total/ })
    await total.waitFor()
    const sums = (await total.textContent()) ?? ''
    expect(sums).toContain(`Total${asked}`)
    expect(sums).toContain(`$${cost.toFixed(2)}`)
    const before = new Date(Date.now() - 59 * 86_400_000).toISOString()
    const until = new Date(Date.now() - 30 * 86_400_000).toISOString()
    const { body: past } = await app.manage(
      'GET',
      `/v1/environments/${app.developmentId}/usage?granularity=total&from=${before}&to=${until}`,
    )
    expect(past.data).toHaveLength(1)
    const change = page.getByRole('row', { name: /^Change from the previous 30 days/ })
    const requests = toChange(asked, past.data[0].requests)
    // All requests have the same tokens.
    expect(await change.getByRole('cell').allTextContents()).toEqual([
      requests,
      '',
      requests,
      requests,
      requests,
      toChange(cost, past.data[0].cost_usd),
      '',
    ])
    await page.getByText('likely sufficient').waitFor()
    for (const by of ['End user', 'Key', 'Project', 'Month']) {
      await page.getByLabel('Group by').selectOption(by)
      await page.getByRole('region', { name: `Usage by ${by.toLowerCase()}`, exact: true }).waitFor()
      expect([by, await total.textContent()]).toEqual([by, sums])
    }
    await page.getByLabel('Group by').selectOption('Model')
    await page.getByLabel('Time').selectOption('Last 90 days')
    await change.waitFor({ state: 'detached' })
    await page.getByLabel('Time').selectOption('Last 30 days')
    await change.waitFor()
    await page.getByRole('link', { name: 'anthropic/claude-sonnet-4-5' }).waitFor()
    await page.getByText('Show as table').click()
    const bars = await page
      .getByRole('region', { name: 'Cost in US dollars by model, as a table' })
      .getByRole('row')
      .allTextContents()
    expect(bars[0]).toContain('Other')
    expect(bars).toHaveLength(31)
    expect(bars.map(text => text.includes('not over yet')).lastIndexOf(false)).toBe(29)
    await watched.expectClean()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    const lines = (await fs.readFile(await download.path(), 'utf8')).trim().split('\r\n').slice(1)
    expect(lines.reduce((sum, line) => sum + Number(line.split(',')[2]), 0)).toBe(asked)
    expect(lines.reduce((sum, line) => sum + Number(line.split(',')[7]), 0)).toBeCloseTo(cost, 6)
    await page.getByRole('link', { name: 'anthropic/claude-sonnet-4-5' }).click()
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor()
    expect(new URL(page.url()).searchParams.get('model')).toBe('anthropic/claude-sonnet-4-5')
    await watched.expectClean()
  })

  test('an alias is ordered by keyboard and drag, tried before it is saved, and serves', async () => {
    const { app, page, watched } = dashboard
    await dashboard.openAsOwner('models')
    await page.getByRole('heading', { name: 'No aliases yet' }).waitFor()
    await page.getByRole('button', { name: 'Create alias' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('fast')
    await dialog.getByLabel('Target 1', { exact: true }).fill('openai/gpt-4o-mini')
    await dialog.getByRole('button', { name: 'Add target' }).click()
    await dialog.getByLabel('Target 2', { exact: true }).fill('sandbox/echo')
    await dialog.getByRole('button', { name: 'Which would serve?' }).click()
    await dialog.getByText('Would serve: sandbox/echo.').waitFor()
    await dialog.getByText('provider_credential_missing').waitFor()
    await watched.expectClean()
    await dialog.getByLabel('Target 2', { exact: true }).press('Alt+ArrowUp')
    const first = dialog.getByLabel('Target 1', { exact: true })
    expect(await first.inputValue()).toBe('sandbox/echo')
    // The focus stays with the target that was moved.
    expect(await first.evaluate(element => element.matches(':focus'))).toBe(true)
    await dialog.getByRole('button', { name: 'Move target 1 down' }).click()
    expect(await first.inputValue()).toBe('openai/gpt-4o-mini')
    await dialog.locator('.grip').last().dragTo(dialog.locator('.targets li').first())
    expect(await first.inputValue()).toBe('sandbox/echo')
    await dialog.getByLabel('Which target answers').selectOption('By weight')
    await dialog.getByLabel('Weight of target 1').fill('3')
    await dialog.getByText('Shares: 75 %, 25 %.').waitFor()
    await dialog.getByLabel('Which target answers').selectOption('In order')
    await dialog.getByRole('button', { name: 'Create alias' }).click()
    const row = page.getByRole('row').filter({ hasText: 'sandbox/echo → openai/gpt-4o-mini' })
    await row.waitFor()
    const { key } = await app.createKey({ name: 'by-alias' })
    const answer = await app.call(
      '/v1/chat',
      { model: 'fast', messages: [{ role: 'user', content: 'hi' }] },
      { key },
    )
    expect(answer.status).toBe(200)
    await dashboard.chooseAction('fast', 'Remove…')
    await dialog.getByText('Requests that name fast fail from now on.').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: 'No aliases yet' }).waitFor()
    await watched.expectClean()
  })

  test('more than a page of limits and of keys are all shown, named and found', async () => {
    const { app, page, watched } = dashboard
    const { id: oldest } = await app.createKey({ name: 'the oldest key' })
    const limit = { scope: 'end_user', metric: 'requests', limit: 5, window_seconds: 60 }
    const limits = `/v1/environments/${app.developmentId}/limits`
    await app.manage('POST', limits, { ...limit, scope: 'key', scope_ref: oldest })
    const made: string[] = []
    for (let count = 0; count < 101; count++) {
      await app.createKey({ name: `key ${count}` })
      made.push((await app.manage('POST', limits, { ...limit, scope_ref: `user ${count}` })).body.id)
    }
    await dashboard.openAsOwner('limits')
    await page.getByRole('row').filter({ hasText: 'the oldest key' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'user 100' }).waitFor()
    await page.keyboard.press('Control+k')
    // A page is found by what it is also called.
    await page.getByLabel('Search or jump').last().fill('budget')
    await page.getByRole('option', { name: 'Limits' }).waitFor()
    await page.getByLabel('Search or jump').last().fill('the oldest')
    await page.getByRole('option', { name: /the oldest key/ }).click()
    await page.waitForURL(url => url.searchParams.get('key_id') === oldest)
    await watched.expectClean()
    for (const id of made) await app.manage('DELETE', `/v1/limits/${id}`)
  })

  test("the catalogue is searched by name and capability, and takes models of one's own", async () => {
    const { page, watched } = dashboard
    await dashboard.openAsOwner('models?q=claude')
    const models = page.getByRole('region', { name: 'Models' }).getByRole('row')
    await models.nth(1).waitFor()
    for (const text of (await models.allTextContents()).slice(1))
      expect(text.toLowerCase()).toContain('claude')
    await page.getByLabel('Name').fill('sandbox')
    await page.keyboard.press('Enter')
    await page.getByText('callable').first().waitFor()
    await page.getByLabel('Capability', { exact: true }).selectOption('Embeddings')
    await page.getByText('sandbox/embed').waitFor()
    expect(await models.count()).toBe(2)
    expect(new URL(page.url()).searchParams.get('can')).toBe('embeddings')
    await page.getByRole('button', { name: 'Add a model' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Model', { exact: true }).fill('nobody/knows')
    await dialog.getByLabel('Input, US dollars').fill('2')
    await dialog.getByLabel('Output, US dollars').fill('6')
    await dialog.getByRole('button', { name: 'Add model' }).click()
    await dialog.getByText('with a known provider').first().waitFor()
    await watched.expectClean()
    await dialog.getByLabel('Model', { exact: true }).fill('openai/our-tune')
    await dialog.getByRole('button', { name: 'Add model' }).click()
    await page.getByRole('row').filter({ hasText: 'openai/our-tune' }).getByText('$2.00 / $6.00').waitFor()
    await watched.expectClean()
  })

  test('a limit is written as a sentence, tried on last week, kept, changed and removed', async () => {
    const { page, watched } = dashboard
    await dashboard.openAsOwner('limits')
    const table = page.getByRole('region', { name: 'Limits' })
    await table.getByText('At most $500.00 a month').waitFor()
    await page.getByRole('button', { name: 'Add limit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount').fill('1')
    await dialog.getByLabel('Unit').selectOption('requests')
    await dialog.getByLabel('Window').selectOption('a day')
    await dialog.getByText(/would have refused \d+ of \d+ last week, of \d+ end users/).waitFor()
    await watched.expectClean()
    await dialog.getByLabel('Amount').fill('0')
    await dialog.getByText(/would have refused (\d+) of \1 last week/).waitFor()
    await dialog.getByLabel('Amount').fill('90000')
    await dialog.getByText('would have refused none').waitFor()
    await dialog.getByRole('button', { name: 'Add limit' }).click()
    const row = table.getByRole('row').filter({ hasText: 'At most 90,000 requests a day' })
    await row.getByText('Each end user').waitFor()
    await row.getByText('quota_exceeded').waitFor()
    await row.getByRole('button', { name: 'Try on last week' }).click()
    await row.getByText('would have refused none').waitFor()
    await row.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Change…' }).click()
    await dialog.getByLabel('At most').fill('80000')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const changed = table.getByRole('row').filter({ hasText: 'At most 80,000 requests a day' })
    await changed.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Remove…' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await changed.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create plan' }).click()
    await dialog.getByLabel('Name').fill('pro')
    await dialog.getByLabel('Requests a minute').fill('60')
    await dialog.getByLabel('US dollars a month').fill('2.5')
    await dialog.getByRole('button', { name: 'Create plan' }).click()
    await page.getByText('At most 60 requests a minute, $2.50 a month; any model').waitFor()
    await watched.expectClean()
  })

  test('an end user is found, given a plan, blocked, and then refused', async () => {
    const { app, page, watched } = dashboard
    const environment = `/v1/environments/${app.developmentId}`
    await app.manage('POST', `${environment}/plans`, { name: 'gold', requests_per_minute: 100 })
    for (const external_id of ['ann', 'anton', 'bob', '<b>مرحبا</b>']) {
      await app.manage('POST', `${environment}/end-users`, { external_id })
    }
    const { key } = await app.createKey({ name: 'for-end-users' })
    const askAs = (user: string) =>
      app.call(
        '/v1/chat',
        { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] },
        { key, headers: { 'x-rideau-end-user': user } },
      )
    expect((await askAs('ann')).status).toBe(200)
    await dashboard.openAsOwner('end-users')
    const table = page.getByRole('region', { name: 'End users' })
    await table.getByText('<b>مرحبا</b>').waitFor()
    await page.getByLabel('Name begins with').fill('an')
    await page.keyboard.press('Enter')
    await page.getByText('2 end users that match').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('an')
    await page.getByRole('button', { name: 'Actions for ann' }).click()
    await page.getByRole('menuitem', { name: 'Change plan…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Plan').selectOption('gold')
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Save' }).click()
    const row = table.getByRole('row').filter({ hasText: 'ann' })
    await row.getByText('gold').waitFor()
    await page.getByRole('button', { name: 'Actions for ann' }).click()
    await page.getByRole('menuitem', { name: 'Block…' }).click()
    await dialog.getByText('live tokens stop working within a second').waitFor()
    await dialog.getByRole('button', { name: 'Block' }).click()
    await row.getByText('blocked').waitFor()
    expect((await askAs('ann')).status).toBe(403)
    await page.getByLabel('State').selectOption('Blocked')
    await page.getByText('1 end user that matches').waitFor()
    await page.getByRole('button', { name: 'Actions for ann' }).click()
    await page.getByRole('menuitem', { name: 'Unblock' }).click()
    await page.getByRole('heading', { name: 'No end user matches' }).waitFor()
    expect((await askAs('ann')).status).toBe(200)
    await watched.expectClean()
  })

  test('the page of an end user shows its limits, usage and requests, and blocks it', async () => {
    const { app, page, watched } = dashboard
    const environment = `/v1/environments/${app.developmentId}`
    await app.manage('POST', `${environment}/plans`, { name: 'silver', requests_per_minute: 40 })
    await app.manage('POST', `${environment}/end-users`, { external_id: 'carol', plan: 'silver' })
    const { key } = await app.createKey({ name: 'for-carol' })
    const answered = await app.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] },
      { key, headers: { 'x-rideau-end-user': 'carol' } },
    )
    await app.findLog(answered.headers.get('x-request-id') ?? '')
    await dashboard.openAsOwner('end-users?q=carol')
    await page.getByRole('region', { name: 'End users' }).getByRole('link', { name: 'carol' }).click()
    await page.getByRole('heading', { name: 'carol', level: 1 }).waitFor()
    await page.getByText('On the plan silver').waitFor()
    const limits = page.getByRole('region', { name: 'Limits' })
    await limits.getByText('At most 40 requests a minute, set by the plan').waitFor()
    await limits.getByText('1 (2.5 %)').waitFor()
    const requests = page.getByRole('region', { name: 'Requests' })
    await requests.getByText('sandbox/echo').waitFor()
    await page.getByRole('heading', { name: 'Cost in US dollars' }).waitFor()
    await watched.expectClean()
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Block' }).click()
    await page.getByText('blocked', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Unblock' }).click()
    await page.getByRole('button', { name: 'Block', exact: true }).waitFor()
    await watched.expectClean()
  })
})
