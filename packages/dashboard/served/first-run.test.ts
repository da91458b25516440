import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type NewApp, openNewApp, SETUP_TOKEN } from '../../server/testing/harness/app.ts'
import { chromiumProgram } from '../../server/testing/harness/chromium.ts'
import {
  dashboardSettings,
  openWatchedPage,
  startChromium,
  type WatchedPage,
} from '../testing/open-dashboard.ts'

describe.skipIf(chromiumProgram === undefined)('the first run', () => {
  let opened: NewApp
  let browser: Browser
  let watched: WatchedPage
  let baseUrl: string
  beforeAll(async () => {
    const env = { ...(await dashboardSettings()), RIDEAU_SETUP_TOKEN: SETUP_TOKEN }
    ;[opened, browser] = await Promise.all([openNewApp(env), startChromium()])
    baseUrl = opened.app.controlUrl ?? ''
  })
  afterAll(async () => {
    await browser?.close()
    await opened?.close()
  })
  beforeEach(async () => {
    watched = await openWatchedPage(browser)
  })
  afterEach(() => watched.context.close())

  test('before it, the sign-in page says what is missing', async () => {
    const { page } = watched
    await page.goto(`${baseUrl}/sign-in`)
    await page.getByRole('heading', { name: 'Not set up yet' }).waitFor()
    await watched.expectClean()
  })

  test('a wrong link is refused with what to do', async () => {
    const { page } = watched
    await page.goto(`${baseUrl}/setup#token=wrong`)
    await page.getByLabel('E-mail').fill('eve@example.com')
    await page.getByLabel('Password').fill('a long enough password')
    await page.getByRole('button', { name: 'Create and open the playground' }).click()
    await page.getByText('This link is not valid. The current one is in the terminal.').waitFor()
    await watched.expectClean()
  })

  test('leads from the link to a streamed answer by the keyboard alone, and its token is in no address', async () => {
    const { page } = watched
    await page.goto(`${baseUrl}/setup#token=${encodeURIComponent(SETUP_TOKEN)}`)
    await page.getByRole('heading', { name: 'Set up Rideau' }).waitFor()
    expect(page.url()).toBe(`${baseUrl}/setup`)
    await watched.expectClean()
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.keyboard.press('Tab')
    await page.keyboard.type('short')
    await page.keyboard.press('Enter')
    await page.getByText('Must have at least 10 characters; this one has 5.').waitFor()
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
    await watched.expectClean()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('a long enough password')
    await page.keyboard.press('Enter')

    const prompt = page.getByLabel('Prompt', { exact: true })
    await prompt.waitFor()
    expect(new URL(page.url()).pathname).toBe('/o/my-organization/default/development/playground')
    expect(await page.getByLabel('Model').inputValue()).toBe('sandbox/echo')
    // The prompt is filled in and has the focus.
    expect(await prompt.evaluate(element => element === element.ownerDocument.activeElement)).toBe(true)
    await page.keyboard.press('Control+Enter')
    const messages = page.getByRole('list', { name: 'Messages' })
    await messages.getByText('See it in Logs').waitFor()
    expect(await messages.textContent()).toContain('Say hello to the first request')
    expect(await messages.textContent()).toMatch(/First token \d.*Total \d.*tokens.*\$0/)

    // The two keys of the set-up are shown once.
    const panel = page.getByRole('region', { name: 'Use it from code' })
    expect(await panel.textContent()).toMatch(/rd_sk_dev_••••••••.*rd_mk_••••••••/s)
    expect(await panel.textContent()).not.toMatch(/rd_sk_dev_\w{8}/)
    await panel.getByRole('button', { name: 'Copy environment id' }).waitFor()
    await watched.expectClean()
    await panel.getByRole('button', { name: 'I have saved both keys' }).click()
    await panel.waitFor({ state: 'detached' })

    const token = encodeURIComponent(SETUP_TOKEN)
    expect(watched.sent.filter(each => each.includes(token) || each.includes(SETUP_TOKEN))).toEqual([])
    await page.goBack()
    expect(page.url()).not.toContain('token')
    const hosts = new Set(watched.sent.map(each => new URL(each.split(' ')[1] ?? '').host))
    expect([...hosts].sort()).toEqual(
      [opened.app.controlUrl, opened.app.gatewayUrl].map(url => new URL(url ?? '').host).sort(),
    )
  })

  test('after it, the link offers the sign-in, which leads back to where one was', async () => {
    const { page } = watched
    await page.goto(`${baseUrl}/setup#token=${encodeURIComponent(SETUP_TOKEN)}`)
    await page.getByRole('heading', { name: 'Set-up is done' }).waitFor()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.goto(`${baseUrl}/o/my-organization/default/production/keys?a=b`)
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The e-mail or the password is wrong.').waitFor()
    await watched.expectClean()
    await page.getByLabel('Password').fill('a long enough password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    expect(page.url()).toContain('/o/my-organization/default/production/keys')
    await page.getByRole('button', { name: 'Environment: production' }).waitFor()
    await watched.expectClean()
  })
})
