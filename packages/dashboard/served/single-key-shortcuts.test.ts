import { expect, test } from 'vitest'
import { DEVELOPMENT, describeDashboard } from '../testing/describe-dashboard.ts'

describeDashboard('keys without Ctrl', dashboard => {
  test('/ goes to the filters, t to the time, and no single key does anything once they are turned off', async () => {
    const { app, page, watched } = dashboard
    await dashboard.openAsOwner('logs')
    const isFocused = (label: string) =>
      page.getByLabel(label, { exact: true }).evaluate(element => element.matches(':focus'))
    // The filters are rendered again when the names of keys arrive.
    await page.waitForLoadState('networkidle')
    await page.keyboard.press('/')
    expect(await isFocused('Status')).toBe(true)
    // A key belongs to the control that has the focus.
    await page.keyboard.press('t')
    expect(await isFocused('Status')).toBe(true)
    await page.getByRole('heading', { name: 'Logs', level: 1 }).click()
    await page.keyboard.press('t')
    expect(await isFocused('Time')).toBe(true)
    await page.goto(`${app.controlUrl}${DEVELOPMENT}/end-users`)
    await page.getByRole('heading', { name: 'End users', level: 1 }).click()
    await page.keyboard.press('/')
    expect(await page.evaluate("document.activeElement.closest('[role=search]') !== null")).toBe(true)
    await page.goto(`${app.controlUrl}${DEVELOPMENT}/keys`)
    await page.getByRole('heading', { name: 'Keys', level: 1 }).click()
    await page.keyboard.press('/')
    await page.getByRole('dialog', { name: 'Search or jump' }).waitFor()
    await page.keyboard.press('Escape')

    const menu = page.getByRole('button', { name: /^Your account/ })
    await menu.click()
    await page.getByRole('menuitem', { name: 'Turn off single-key shortcuts' }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'Keys', level: 1 }).click()
    for (const key of ['?', '/', 'g', 'l']) await page.keyboard.press(key)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search or jump' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(new URL(page.url()).pathname).toBe(`${DEVELOPMENT}/keys`)
    await page.keyboard.press('Escape')
    await menu.click()
    await page.getByRole('menuitem', { name: 'Turn on single-key shortcuts' }).click()
    await page.getByRole('heading', { name: 'Keys', level: 1 }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await watched.expectClean()
  })
})
