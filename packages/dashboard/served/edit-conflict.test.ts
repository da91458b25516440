import { expect, test } from 'vitest'
import { describeDashboard } from '../testing/describe-dashboard.ts'

describeDashboard('two people change the same record', dashboard => {
  test('a form whose record someone else has changed shows what changed, keeps its input, and writes over it when saved again', async () => {
    const { app, page, watched } = dashboard
    const path = `/v1/projects/${app.projectId}/budgets`
    const { body: budget } = await app.manage('POST', path, { limit_usd: 50, window: 'month' })
    await dashboard.openAsOwner('limits')
    await page.getByRole('button', { name: /^Actions for .*\$50\.00/ }).click()
    await page.getByRole('menuitem', { name: 'Change…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('At most, in US dollars').fill('70')
    await dialog.getByLabel('Alert at, in percent').fill('50, 90')
    await dialog.getByLabel('When little is left').selectOption('Refuse it')
    await app.manage('PATCH', `/v1/budgets/${budget.id}`, { limit_usd: 60 })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Someone else changed this in the meantime.').waitFor()
    expect(await dialog.getByRole('row').allInnerTexts()).toEqual([
      expect.stringMatching(/^Field/),
      expect.stringMatching(/^limit_usd\s+50\s+60$/),
    ])
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Keep my input' }).click()
    await dialog.getByText('Your input is kept.').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body } = await app.manage('GET', path)
    expect(body.data[0]).toMatchObject({ limit_usd: 70, alert_pcts: [50, 90], on_tight: 'refuse' })
  })

  test('a form whose record someone else has changed starts again with the stored record when the input is discarded', async () => {
    const { app, page, watched } = dashboard
    const path = `/v1/environments/${app.developmentId}/quotas`
    const rule = { scope: 'environment', metric: 'tokens', window: 'day', limit: 1000 }
    const { body: quota } = await app.manage('POST', path, rule)
    await dashboard.openAsOwner('limits')
    await page.getByRole('button', { name: /^Actions for .*1,000 tokens/ }).click()
    await page.getByRole('menuitem', { name: 'Change…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('At most').fill('5')
    await app.manage('PATCH', `/v1/quotas/${quota.id}`, { limit: 2000, grace_pct: 20 })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('button', { name: 'Discard it and reload' }).click()
    await dialog.getByText('2,000 tokens a day, 20 % grace').waitFor()
    expect(await dialog.getByLabel('At most').inputValue()).toBe('2000')
    await dialog.getByLabel('Grace, in percent').fill('30')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('2,000 tokens a day, 30 % grace').waitFor()
    expect(watched.complaints).toEqual([])
  })

  test('settings of an environment and of the organization are saved twice in a row', async () => {
    const { app, page } = dashboard
    await dashboard.openAsOwner('settings')
    const days = page.getByLabel('Days to keep the log')
    for (const value of ['12', '13']) {
      await days.fill(value)
      const [answer] = await Promise.all([
        page.waitForResponse(response => response.request().method() === 'PATCH'),
        page.getByRole('button', { name: 'Save' }).click(),
      ])
      expect([answer.status(), answer.request().headers()['if-match']]).toEqual([200, expect.any(String)])
    }
    await page.goto(`${app.controlUrl}/o/test/settings`)
    for (const value of ['Test 1', 'Test']) {
      await page.getByLabel('Name').fill(value)
      const [answer] = await Promise.all([
        page.waitForResponse(response => response.request().method() === 'PATCH'),
        page.getByRole('button', { name: 'Save' }).click(),
      ])
      expect([answer.status(), answer.request().headers()['if-match']]).toEqual([200, expect.any(String)])
    }
  })
})
