import fs from 'node:fs'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../server/testing/harness/app.ts'
import { chromiumProgram } from '../../server/testing/harness/chromium.ts'
import { dashboardSettings, openWatchedPage, startChromium } from '../testing/open-dashboard.ts'
import { seedDay } from '../testing/seed-day.ts'
import { seedSettings, seedWeeks } from '../testing/seed-weeks.ts'
import { signInAsOwner } from '../testing/sign-in.ts'

// Every page, empty (production) and full (development), wide in the light theme and narrow in the dark one: axe finds nothing
// serious, the page complains of nothing and does not scroll sideways. With RIDEAU_SCREENSHOTS, a folder, all four combinations are
// also photographed (npm run screenshots).

const FOLDER = process.env.RIDEAU_SCREENSHOTS
const VIEWS = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 390 },
  ...(FOLDER === undefined
    ? []
    : [{ theme: 'dark', width: 1280 } as const, { theme: 'light', width: 390 } as const]),
] as const

describe.skipIf(chromiumProgram === undefined)('every page', () => {
  let app: TestApp
  let browser: Browser
  beforeAll(async () => {
    const env = await dashboardSettings()
    ;[app, browser] = await Promise.all([openTestApp(env), startChromium()])
    await seedDay(app, Date.now())
    await seedWeeks(app, Date.now())
    await seedSettings(app)
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
  ]

  for (const { theme, width } of VIEWS) {
    test(`in the ${theme} theme, ${width} px wide`, async () => {
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
      }
      await page.goto(`${app.controlUrl}/sign-in`)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await check('sign-in')
      await signInAsOwner(page, app.controlUrl)
      for (const [environment, fullness] of [
        ['development', 'full'],
        ['production', 'empty'],
      ] as const) {
        for (const [name, address, heading] of PAGES) {
          await page.goto(`${app.controlUrl}/o/test/default/${environment}/${address}`)
          await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
          await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
          await page.getByRole('button', { name: `Environment: ${environment}` }).waitFor()
          await check(`${name}-${fullness}`)
        }
      }
      await page.goto(`${app.controlUrl}/o/test/default/development/logs`)
      await page.getByRole('region', { name: 'Requests' }).getByRole('link').first().click()
      await page.getByRole('heading', { name: 'Timeline' }).waitFor()
      await check('request')
      await page.goto(`${app.controlUrl}/o/test/default/development/keys`)
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog').waitFor()
      await check('create-key')
      await page.goto(`${app.controlUrl}/o/test/default/development/limits`)
      await page.getByRole('button', { name: 'Add limit' }).click()
      await page.getByRole('dialog').getByText('last week').waitFor()
      await check('add-limit')
      await page.goto(`${app.controlUrl}/o/test/default/development/models`)
      await page.getByRole('button', { name: 'Change smart' }).click()
      await page.getByRole('button', { name: 'Which would serve?' }).click()
      await page.getByRole('dialog').getByText('provider_credential_missing').waitFor()
      await check('change-alias')
      await page.context().close()
    })
  }
})
