import type { Page } from 'playwright-core'

/** Signs in as the owner that set-up made, and waits for the first page. */
export async function signInAsOwner(page: Page, controlUrl: string, next = '/'): Promise<void> {
  await page.goto(`${controlUrl}/sign-in?next=${encodeURIComponent(next)}`)
  await page.getByLabel('E-mail').fill('owner@example.com')
  await page.getByLabel('Password').fill('a long enough password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: /^Environment: / }).waitFor()
}
