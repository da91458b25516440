import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { startChromium } from '../../server/testing/harness/chromium.ts'

const run = promisify(execFile)
const repository = path.join(import.meta.dirname, '../../..')

/** Builds the pages if a source changed, and returns the settings of an app that serves them. */
export async function dashboardSettings(): Promise<Record<string, string>> {
  const { stdout } = await run(process.execPath, ['tools/build-dashboard.mjs'], { cwd: repository })
  return { RIDEAU_DASHBOARD_DIR: stdout.trim() }
}

/** A page with a record of its requests and of its errors. */
export interface WatchedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Every request, as its method and address. */
  readonly sent: string[]
  /** Errors of the console, uncaught exceptions and breaches of the content security policy. */
  readonly complaints: string[]
  /** Fails if axe finds something serious, or the page complained. */
  expectClean(): Promise<void>
}

/** Opens a page in a context of its own, with its own cookies. */
export async function openWatchedPage(
  browser: Browser,
  options: NonNullable<Parameters<Browser['newContext']>[0]> = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  // A test has its own limit, which leaves time on a slow machine.
  page.setDefaultTimeout(60_000)
  const sent: string[] = []
  const complaints: string[] = []
  page.on('request', request => void sent.push(`${request.method()} ${request.url()}`))
  page.on('pageerror', error => void complaints.push(error.message))
  page.on('console', message => {
    // The browser reports each refused call; the pages show them.
    const isRefusedCall = /Failed to load resource/.test(message.text())
    if (message.type() === 'error' && !isRefusedCall) complaints.push(message.text())
  })
  return {
    page,
    context,
    sent,
    complaints,
    async expectClean() {
      expect(complaints).toEqual([])
      expect(await findBarriers(page)).toEqual([])
    },
  }
}

/** Returns what axe finds serious or critical, as `rule: element`. */
async function findBarriers(page: Page): Promise<string[]> {
  // The debugger may evaluate a script that the content security policy would refuse.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
  }>('axe.run({ resultTypes: ["violations"] })')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`))
}

export { startChromium }
