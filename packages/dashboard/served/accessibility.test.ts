import { expect, test } from 'vitest'
import { DEVELOPMENT, describeDashboard } from '../testing/describe-dashboard.ts'
import { signInAsOwner } from '../testing/sign-in.ts'

describeDashboard('without a mouse, a clipboard, a fast network or a single tab', dashboard => {
  /** Presses Tab until the element has the focus, and expects that every stop on the way shows it. */
  const tabTo = async (name: RegExp): Promise<void> => {
    const { page } = dashboard
    for (let stop = 0; stop < 80; stop++) {
      await page.keyboard.press('Tab')
      const { label, hasRing } = await page.evaluate<{ label: string; hasRing: boolean }>(`(() => {
        const element = document.activeElement
        const style = getComputedStyle(element)
        const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
        return { label: label.trim(), hasRing: element === document.body || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) }
      })()`)
      expect([label, hasRing]).toEqual([label, true])
      if (name.test(label)) return
    }
    throw new Error(`Tab never reached ${name}`)
  }

  test('everything from the sign-in to a prompt is done by the keyboard alone, and the focus is always seen', async () => {
    const { app, page, watched } = dashboard
    await page.goto(`${app.controlUrl}/sign-in?next=${encodeURIComponent(`${DEVELOPMENT}/keys`)}`)
    await page.getByLabel('E-mail').waitFor()
    await tabTo(/^E-mail/)
    await page.keyboard.type('owner@example.com')
    await tabTo(/^Password/)
    await page.keyboard.type('a long enough password')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await tabTo(/^Create key/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    if (!(await page.getByLabel('Name').evaluate(field => field.matches(':focus')))) await tabTo(/^Name/)
    await page.keyboard.type('by-keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by-keyboard is ready' }).waitFor()
    await tabTo(/^I have saved it/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.keyboard.press('g')
    await page.keyboard.press('p')
    const prompt = page.getByLabel('Prompt', { exact: true })
    await prompt.waitFor()
    if (!(await prompt.evaluate(field => field.matches(':focus')))) await tabTo(/^Prompt/)
    await page.keyboard.press('Control+a')
    await page.keyboard.type('By the keyboard')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('link', { name: 'See it in Logs' }).waitFor()
    await tabTo(/^See it in Logs/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()

    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor()
    await tabTo(/^Status/)
    await page.keyboard.type('2xx')
    await page.getByText('1 request that matches').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    await watched.expectClean()
  })

  test('a text that cannot be copied is selected, and a screen reader hears what to press', async () => {
    const { page } = dashboard
    await page.addInitScript(
      'Object.defineProperty(navigator, "clipboard", { value: undefined }); document.execCommand = () => false',
    )
    await dashboard.openAsOwner('keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('uncopied')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = await dialog.getByTestId('secret').textContent()
    await dialog.getByRole('button', { name: 'Copy key' }).click()
    await dialog.getByRole('status').getByText('Selected. Press Ctrl+C to copy.').waitFor()
    expect(await page.evaluate('String(getSelection())')).toBe(key)
  })

  test('another environment is opened on the same page and range, without the filters of this one', async () => {
    const { app, page } = dashboard
    const { id } = await app.createKey({ name: 'only-here' })
    // A filter may have the name of a property that every object inherits.
    const address = `${DEVELOPMENT}/logs?range=7d&status=5xx&key_id=${id}&constructor=1`
    await signInAsOwner(page, app.controlUrl, address)
    await page.getByRole('heading', { name: 'No request matches' }).waitFor()
    await page.getByRole('button', { name: 'Environment: development' }).click()
    await page.getByRole('menuitem', { name: 'Production' }).click()
    await page.getByRole('button', { name: 'Environment: production' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/o/test/default/production/logs')
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ range: '7d', status: '5xx' })
    await page
      .getByText('These filters belong to the other environment and were dropped: key, constructor.')
      .waitFor()
  })

  test('signing out in one tab ends the other one', async () => {
    const { app, page, watched } = dashboard
    await dashboard.openAsOwner('keys')
    const other = await watched.context.newPage()
    await other.goto(`${app.controlUrl}${DEVELOPMENT}/logs`)
    await other.getByRole('heading', { name: 'Logs', level: 1 }).waitFor()
    await page.getByRole('button', { name: /^Your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    for (const each of [page, other]) await each.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('on a slow network the frame comes from the cache, before the first answer of its page, and nothing jumps', async () => {
    const { app, page, watched } = dashboard
    await dashboard.openAsOwner('overview')
    await page.goto(`${app.controlUrl}${DEVELOPMENT}/keys`)
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await page.addInitScript(
      `window.shifts = 0; new PerformanceObserver(list => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value
      }).observe({ type: 'layout-shift', buffered: true })`,
    )
    const devtools = await watched.context.newCDPSession(page)
    await devtools.send('Network.enable')
    const cached = new Set<string>()
    const loaded: string[] = []
    devtools.on('Network.requestServedFromCache', ({ requestId }) => void cached.add(requestId))
    devtools.on('Network.responseReceived', ({ requestId, response }) => {
      if (response.url.includes('/assets/') && !response.fromDiskCache && !cached.has(requestId))
        loaded.push(response.url)
    })
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 400,
      downloadThroughput: 50_000,
      uploadThroughput: 50_000,
    })
    for (const [address, title] of [
      ['keys', 'Keys'],
      ['overview', 'Overview'],
      ['models', 'Models'],
      ['limits', 'Limits'],
    ] as const) {
      await page.goto(`${app.controlUrl}${DEVELOPMENT}/${address}`)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      const shifts = await page.evaluate<number>('window.shifts')
      expect([address, shifts <= 0.1 ? 'still' : shifts]).toEqual([address, 'still'])
    }
    expect(cached.size).toBeGreaterThan(0)
    // The code of a page that is opened for the first time, and nothing twice.
    expect(new Set(loaded).size).toBe(loaded.length)
    expect(loaded.filter(url => /\/(index|button|matchContext)-/.test(url))).toEqual([])
  })
})
