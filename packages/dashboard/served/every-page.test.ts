import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type NewApp, openNewApp } from '../../server/testing/harness/app.ts'
import { chromiumProgram } from '../../server/testing/harness/chromium.ts'
import { fillTestDemo } from '../testing/fill-test-demo.ts'
import { dashboardSettings, openWatchedPage, startChromium } from '../testing/open-dashboard.ts'
import { signInAsOwner } from '../testing/sign-in.ts'

// Opens every page with the demo's data and empty, wide in the light theme and narrow in the dark one. axe finds nothing serious, the
// console stays free of errors, and nothing scrolls horizontally. With RIDEAU_TEST_SCREENSHOTS, a folder, the tests photograph all four
// combinations (npm run screenshots). They also measure the narrow pages at 320 and at 640 pixels.

const MAX_NARROW = 390
const FOLDER = process.env.RIDEAU_TEST_SCREENSHOTS
const VIEWS = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 390 },
  ...(FOLDER === undefined
    ? []
    : [{ theme: 'dark', width: 1280 } as const, { theme: 'light', width: 390 } as const]),
] as const

describe.skipIf(chromiumProgram === undefined)('every page', () => {
  let app: NewApp
  let controlUrl: string
  let browser: Browser
  beforeAll(async () => {
    const masterKey = randomBytes(32)
    const env = { ...(await dashboardSettings()), RIDEAU_MASTER_KEY: masterKey.toString('base64') }
    ;[app, browser] = await Promise.all([openNewApp(env), startChromium()])
    controlUrl = app.app.controlUrl ?? ''
    await fillTestDemo(app.database, masterKey, 4_000)
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  const PAGES: readonly (readonly [name: string, path: string, heading: string])[] = [
    ['overview', 'overview', 'Overview'],
    ['logs', 'logs', 'Logs'],
    ['playground', 'playground', 'Playground'],
    ['keys', 'keys', 'Keys'],
    ['providers', 'providers', 'Providers'],
    ['usage', 'usage', 'Usage'],
    ['models', 'models', 'Models'],
    ['limits', 'limits', 'Limits'],
    ['end-users', 'end-users', 'End users'],
    ['client-auth', 'client-auth', 'Client auth'],
    ['environment-settings', 'settings', 'Environment settings'],
  ]

  /** Pages for people who are not signed in, opened by a link that is not valid. */
  const SIGNED_OUT_PAGES: readonly (readonly [address: string, heading: RegExp])[] = [
    ['setup', /^Set/],
    ['accept-invitation#token=wrong', /./],
    ['reset-password#token=wrong', /./],
  ]

  const ORGANIZATION_PAGES: readonly (readonly [address: string, heading: string])[] = [
    ['projects', 'Projects'],
    ['members', 'Members'],
    ['management-keys', 'Management keys'],
    ['webhooks', 'Webhooks'],
    ['audit-log', 'Audit log'],
    ['settings', 'Organization settings'],
  ]

  /** Expects the environment's name in the window, and for production a line across it: neither depends on colour. */
  const expectEnvironment = async (page: Page, width: number): Promise<void> => {
    const chip = page.getByRole('button', { name: /^Environment: /, includeHidden: true })
    if ((await chip.count()) === 0) return
    const isProduction = (await chip.getAttribute('aria-label')) === 'Environment: production'
    expect(await chip.innerText()).toContain(isProduction ? 'PRODUCTION' : 'Development')
    const box = await chip.boundingBox()
    expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? width) <= width).toBe(true)
    const line = "getComputedStyle(document.querySelector('.app-shell')).borderTopWidth"
    expect(await page.evaluate(line)).toBe(isProduction ? '4px' : '0px')
  }

  for (const { theme, width } of VIEWS) {
    const open = async (): Promise<{ page: Page; check: (name: string) => Promise<void> }> => {
      const watched = await openWatchedPage(browser, { colorScheme: theme, viewport: { width, height: 900 } })
      const { page } = watched
      const check = async (name: string): Promise<void> => {
        if (FOLDER !== undefined) {
          fs.mkdirSync(FOLDER, { recursive: true })
          await page.screenshot({ path: path.join(FOLDER, `${name}-${width}-${theme}.png`), fullPage: true })
        }
        await watched.expectClean()
        const isSideways = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
        expect([name, await page.evaluate(isSideways)]).toEqual([name, false])
        const own = new Set([controlUrl, app.app.gatewayUrl].map(url => new URL(url ?? '').host))
        const asked = watched.sent.map(each => new URL(each.split(' ')[1] ?? '').host)
        expect(asked.filter(host => !own.has(host))).toEqual([])
        if (width > MAX_NARROW) return
        // The narrowest phone, and a window of 1,280 pixels at 200 % zoom.
        for (const narrow of [320, 640]) {
          await page.setViewportSize({ width: narrow, height: 900 })
          expect([name, narrow, await page.evaluate(isSideways)]).toEqual([name, narrow, false])
          await expectEnvironment(page, narrow)
        }
        await page.setViewportSize({ width, height: 900 })
      }
      return { page, check }
    }

    test(`of environments, in the ${theme} theme, ${width} px wide`, async () => {
      const { page, check } = await open()
      await page.goto(`${controlUrl}/sign-in`)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await check('sign-in')
      for (const [address, heading] of SIGNED_OUT_PAGES) {
        await page.goto(`${controlUrl}/${address}`)
        await page.getByRole('heading', { name: heading }).waitFor()
        await check(address.replace(/#.*/, ''))
      }
      await signInAsOwner(page, controlUrl)
      for (const [project, environment, fullness] of [
        ['chat-app', 'production', 'full'],
        ['new-idea', 'development', 'empty'],
      ] as const) {
        for (const [name, address, heading] of PAGES) {
          await page.goto(`${controlUrl}/o/acme/${project}/${environment}/${address}`)
          await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
          await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
          await page.getByRole('button', { name: `Environment: ${environment}` }).waitFor()
          await check(`${name}-${fullness}`)
        }
      }
      await page.context().close()
    })

    test(`of the organization, in the ${theme} theme, ${width} px wide`, async () => {
      const { page, check } = await open()
      await signInAsOwner(page, controlUrl)
      for (const [address, heading] of ORGANIZATION_PAGES) {
        await page.goto(`${controlUrl}/o/acme/${address}`)
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
        await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
        await check(`organization-${address}`)
      }
      await page.goto(`${controlUrl}/o/acme/audit-log?operation=limits.update`)
      await page.getByRole('list', { name: 'Entries' }).locator('summary').first().click()
      await page.getByRole('columnheader', { name: 'Before' }).first().waitFor()
      await check('audit-entry')
      await page.goto(`${controlUrl}/account`)
      await page.getByRole('heading', { name: 'Your account' }).waitFor()
      await check('account')
      await page.goto(`${controlUrl}/o/acme/chat-app/development/client-auth`)
      await page.getByRole('button', { name: 'Set up identity provider' }).click()
      await page.getByRole('dialog').waitFor()
      await check('identity-dialog')
      await page.context().close()
    })

    test(`of one request and of forms, in the ${theme} theme, ${width} px wide`, async () => {
      const { page, check } = await open()
      await signInAsOwner(page, controlUrl)
      await page.goto(`${controlUrl}/o/acme/chat-app/development/logs`)
      await page.getByRole('region', { name: 'Requests' }).getByRole('link').first().click()
      await page.getByRole('heading', { name: 'Timeline' }).waitFor()
      await check('request')
      await page.goto(`${controlUrl}/o/acme/chat-app/production/end-users`)
      await page.getByRole('region', { name: 'End users' }).getByRole('link').first().click()
      await page.getByRole('heading', { name: 'Latest requests' }).waitFor()
      await page.getByRole('heading', { name: 'Cost in US dollars' }).waitFor()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      await check('end-user')
      await page.goto(`${controlUrl}/o/acme/chat-app/development/keys`)
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog').waitFor()
      await check('create-key')
      for (const [name, address] of [
        ['change-key', 'keys'],
        ['change-credential', 'providers'],
      ] as const) {
        await page.goto(`${controlUrl}/o/acme/chat-app/production/${address}`)
        await page
          .getByRole('button', { name: /^Actions for/ })
          .first()
          .click()
        await page.getByRole('menuitem', { name: 'Change…' }).click()
        await page.getByRole('dialog').waitFor()
        await check(name)
      }
      await page.goto(`${controlUrl}/o/acme/chat-app/production/limits`)
      await page.getByRole('button', { name: 'Add limit' }).click()
      await page.getByRole('dialog').getByText('last week').waitFor()
      await check('add-limit')
      await page.goto(`${controlUrl}/o/acme/chat-app/production/models`)
      await page.getByRole('button', { name: 'Actions for fast' }).click()
      await page.getByRole('menuitem', { name: 'Change…' }).click()
      await page.getByRole('button', { name: 'Which would serve?' }).click()
      await page.getByRole('dialog').getByText('Would serve:').waitFor()
      await check('change-alias')
      await page.context().close()
    })
  }
})
