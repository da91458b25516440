import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { openTestApp, type TestApp } from '../../server/testing/harness/app.ts'
import { chromiumProgram } from '../../server/testing/harness/chromium.ts'
import { dashboardSettings, openWatchedPage, startChromium, type WatchedPage } from './open-dashboard.ts'
import { signInAsOwner } from './sign-in.ts'

/** Where the pages of the test app's development environment are. */
export const DEVELOPMENT = '/o/test/default/development'

/** What the tests of one suite share. Hooks and tests can read it; the page is another one in each test. */
export interface OpenDashboard {
  readonly app: TestApp
  readonly browser: Browser
  readonly watched: WatchedPage
  readonly page: Page
  /** Signs in as the owner and opens a page of the development environment. */
  openAsOwner(address: string): Promise<void>
  /** Chooses an action in the menu of the row with this name. */
  chooseAction(name: string, action: string): Promise<void>
}

/**
 * Defines tests of the pages of a new app, each with a page and cookies of its own. They are skipped where no browser is installed.
 * The app and the browser are open before the hooks that `define` adds, and close after them.
 */
export function describeDashboard(subject: string, define: (dashboard: OpenDashboard) => void): void {
  describe.skipIf(chromiumProgram === undefined)(`${subject}, in a browser`, () => {
    let app: TestApp
    let browser: Browser
    let watched: WatchedPage
    beforeAll(async () => {
      const env = await dashboardSettings()
      ;[app, browser] = await Promise.all([openTestApp(env), startChromium()])
    })
    afterAll(async () => {
      await browser?.close()
      await app?.close()
    })
    beforeEach(async () => {
      watched = await openWatchedPage(browser)
    })
    afterEach(() => watched.context.close())

    define({
      get app() {
        return app
      },
      get browser() {
        return browser
      },
      get watched() {
        return watched
      },
      get page() {
        return watched.page
      },
      openAsOwner: address => signInAsOwner(watched.page, app.controlUrl, `${DEVELOPMENT}/${address}`),
      async chooseAction(name, action) {
        const { page } = watched
        await page.getByRole('button', { name: `Actions for ${name}` }).click()
        await page.getByRole('menuitem', { name: action }).click()
      },
    })
  })
}
