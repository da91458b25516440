import { randomBytes } from 'node:crypto'
import type { Browser, CDPSession } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type NewApp, openNewApp } from '../../server/testing/harness/app.ts'
import { chromiumProgram } from '../../server/testing/harness/chromium.ts'
import { countRounds, type Rounds } from '../testing/count-rounds.ts'
import { fillTestDemo } from '../testing/fill-test-demo.ts'
import {
  dashboardSettings,
  openWatchedPage,
  startChromium,
  type WatchedPage,
} from '../testing/open-dashboard.ts'
import { signInAsOwner } from '../testing/sign-in.ts'

// Measures what a page costs: rounds of calls, bytes, CPU time and memory.

describe.skipIf(chromiumProgram === undefined)('the weight of pages', () => {
  let app: NewApp
  let controlUrl: string
  let browser: Browser
  let watched: WatchedPage
  beforeAll(async () => {
    const masterKey = randomBytes(32)
    const env = { ...(await dashboardSettings()), RIDEAU_MASTER_KEY: masterKey.toString('base64') }
    ;[app, browser] = await Promise.all([openNewApp(env), startChromium()])
    controlUrl = app.app.controlUrl ?? ''
    await fillTestDemo(app.database, masterKey, 2_000)
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })
  beforeEach(async () => {
    watched = await openWatchedPage(browser)
  })
  afterEach(() => watched.context.close())

  test('every page is whole after two rounds of calls, and its code is there before the first answer', async () => {
    const { page } = watched
    await signInAsOwner(page, controlUrl)
    const environment = `${controlUrl}/o/acme/chat-app/production`
    await page.goto(`${environment}/logs?range=30d`)
    const request = await page
      .getByRole('region', { name: 'Requests' })
      .getByRole('link')
      .first()
      .getAttribute('href')
    await page.goto(`${environment}/end-users`)
    const endUser = await page
      .getByRole('region', { name: 'End users' })
      .getByRole('link')
      .first()
      .getAttribute('href')
    const pages = [
      'overview?range=30d',
      'logs',
      'usage',
      'usage?by=key',
      'keys',
      'limits',
      'end-users',
      'models',
      'providers',
      'client-auth',
      'settings',
    ].map(address => `${environment}/${address}`)
    const organization = ['projects', 'members', 'management-keys', 'webhooks', 'audit-log', 'settings']
    pages.push(...organization.map(address => `${controlUrl}/o/acme/${address}`))
    pages.push(`${controlUrl}${request}`, `${controlUrl}${endUser}`, `${controlUrl}/account`)
    const slow: (readonly [page: string, rounds: Rounds])[] = []
    for (const url of pages) {
      const rounds = await countRounds(page, url)
      // The first one says who is signed in, and where.
      expect([url, rounds.calls[0]]).toEqual([url, ['GET /v1/session/bootstrap']])
      if (rounds.calls.length > 2 || rounds.lateFiles.length > 0) slow.push([url, rounds])
    }
    expect(slow).toEqual([])
    // The playground's models need a token of the gateway first; the prompt is shown before they arrive.
    const { calls } = await countRounds(page, `${controlUrl}/o/acme/chat-app/development/playground`)
    expect(calls).toEqual([
      ['GET /v1/session/bootstrap'],
      ['POST /v1/environments/:id/playground-token'],
      ['GET /v1/models'],
    ])
  })

  test('the first page is less than 250 KB on the wire, all its code, styles and calls together', async () => {
    const { page } = watched
    await signInAsOwner(page, controlUrl)
    const cookies = await watched.context.cookies()
    const fresh = await openWatchedPage(browser)
    try {
      await fresh.context.addCookies(cookies)
      const sizes: Promise<number>[] = []
      fresh.page.on('requestfinished', request =>
        sizes.push(
          request
            .sizes()
            .then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize),
        ),
      )
      await fresh.page.goto(`${controlUrl}/o/acme/chat-app/production/overview?range=30d`)
      await fresh.page.getByRole('heading', { name: 'Top models' }).waitFor()
      await fresh.page.getByRole('heading', { name: 'Failures by code' }).waitFor()
      const sum = (await Promise.all(sizes)).reduce((total, size) => total + size, 0)
      expect(sum).toBeGreaterThan(100_000)
      expect(sum).toBeLessThan(250_000)
    } finally {
      await fresh.context.close()
    }
  })

  test('the first page takes less than a quarter of a second of the main thread, a second on a machine of a quarter of the speed', async () => {
    const { page } = watched
    await signInAsOwner(page, controlUrl)
    const seconds: number[] = []
    for (let again = 0; again < 3; again++) {
      const session = await page.context().newCDPSession(page)
      // CPU time: other work on the machine does not count.
      await session.send('Performance.enable', { timeDomain: 'threadTicks' })
      const before = await readMetric(session, 'TaskDuration')
      await page.goto(`${controlUrl}/o/acme/chat-app/production/overview`)
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
      await page.getByRole('region', { name: 'Top models' }).getByRole('link').first().waitFor()
      seconds.push((await readMetric(session, 'TaskDuration')) - before)
      await session.detach()
    }
    expect(Math.min(...seconds)).toBeLessThan(0.25)
  })

  test('ten pages of the log take less than 150 MB of memory', async () => {
    const { page } = watched
    await signInAsOwner(page, controlUrl)
    const from = new Date(Date.now() - 90 * 86_400_000).toISOString()
    await page.goto(`${controlUrl}/o/acme/chat-app/production/logs?from=${from}`)
    const rows = page.getByRole('region', { name: 'Requests' }).getByRole('link')
    for (let loaded = 1; loaded < 10; loaded++) {
      await expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(100 * loaded)
      await page.getByRole('button', { name: 'Show more' }).click()
    }
    await expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(1_000)
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    await session.send('HeapProfiler.collectGarbage')
    expect(await readMetric(session, 'JSHeapTotalSize')).toBeLessThan(150e6)
  })
})

async function readMetric(session: CDPSession, name: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(metric => metric.name === name)?.value ?? Number.NaN
}
