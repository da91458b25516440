import type { Browser, BrowserContext, Page } from 'playwright-core'

/** Signs in as the owner that set-up made, and waits for the first page. */
export async function signInAsOwner(page: Page, controlUrl: string, next = '/'): Promise<void> {
  await page.goto(`${controlUrl}/sign-in?next=${encodeURIComponent(next)}`)
  await page.getByLabel('E-mail').fill('owner@example.com')
  await page.getByLabel('Password').fill('a long enough password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: /^Environment: / }).waitFor()
}

/** Cookies of a signed-in owner, as the option `storageState` of a context. */
export type OwnerSession = Awaited<ReturnType<BrowserContext['storageState']>>

/** Signs in as the owner once, for the pages of many tests: sign-ins of one account are limited. */
export async function openOwnerSession(browser: Browser, controlUrl: string): Promise<OwnerSession> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    await signInAsOwner(page, controlUrl)
    return await context.storageState()
  } finally {
    await context.close()
  }
}
