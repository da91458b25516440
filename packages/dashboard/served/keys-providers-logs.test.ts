import { expect, test } from 'vitest'
import { describeDashboard } from '../testing/describe-dashboard.ts'

describeDashboard('the dashboard at work', dashboard => {
  const ask = (key: string) =>
    dashboard.app.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] },
      { key },
    )
  const chooseAction = async (name: string, action: string): Promise<void> => {
    // The newest key of that name is listed first.
    const { page } = dashboard
    await page
      .getByRole('button', { name: `Actions for ${name}` })
      .first()
      .click()
    await page.getByRole('menuitem', { name: action }).click()
  }

  test('a key is created with restrictions, shown once, used, rolled with an overlap and revoked by its name', async () => {
    const { page, watched } = dashboard
    // A page without https has no clipboard API.
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await dashboard.openAsOwner('keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('web-backend')
    await dialog.getByLabel('Models').fill('sandbox/echo\nopenai/*')
    await dialog.getByLabel('chat').check()
    await dialog.getByLabel('Maximum cost of one request').fill('0.5')
    await dialog.getByRole('button', { name: 'Create key' }).click()

    await page.getByRole('heading', { name: 'web-backend is ready' }).waitFor()
    const key = (await dialog.getByTestId('secret').textContent()) ?? ''
    expect(key).toMatch(/^rd_sk_dev_/)
    await dialog.getByText('Waiting for the first request…').waitFor()
    await dialog.getByRole('button', { name: 'Copy key' }).click()
    await dialog.getByText('Copied.', { exact: true }).waitFor()
    for (const tab of ['OpenAI, Python', 'Claude Code', 'AI SDK', 'curl']) {
      await dialog.getByRole('tab', { name: tab }).click()
      // The snippet masks the key.
      expect(await dialog.getByRole('tabpanel').textContent()).not.toContain(key)
    }
    await watched.expectClean()
    expect((await ask(key)).status).toBe(200)
    await dialog.getByText(/^Received at \d\d:\d\d:\d\d/).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.getByText('You cannot see this key again.').waitFor()
    await dialog.getByRole('button', { name: 'I have saved it' }).click()

    const row = page.getByRole('row').filter({ hasText: 'web-backend' })
    expect(await row.textContent()).toContain('2 models · chat · ≤ $0.50 a request')
    await page.reload()
    await row.first().waitFor()
    const everything = await page.evaluate(
      'document.documentElement.outerHTML + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })',
    )
    expect(everything).not.toContain(key)

    await chooseAction('web-backend', 'Roll…')
    await dialog.getByLabel('The old key works for').selectOption('1 hour')
    await dialog.getByRole('button', { name: 'Roll key' }).click()
    const rolled = (await dialog.getByTestId('secret').textContent()) ?? ''
    expect([(await ask(key)).status, (await ask(rolled)).status]).toEqual([200, 200])
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByText('rolled, still works').waitFor()

    await chooseAction('web-backend', 'Revoke…')
    const revoke = dialog.getByRole('button', { name: 'Revoke key' })
    expect(await revoke.getAttribute('aria-disabled')).toBe('true')
    // Playwright would wait for the button to be enabled; a person can click it anyway.
    await revoke.click({ force: true })
    expect((await ask(rolled)).status).toBe(200)
    await dialog.getByLabel('Type web-backend to confirm').fill('web-backend')
    await watched.expectClean()
    await revoke.click()
    await page.getByText('revoked', { exact: true }).waitFor()
    expect((await ask(rolled)).status).toBe(401)
  })

  test('the page of a key shows every limit that can refuse it, with what is used now', async () => {
    const { app, page, watched } = dashboard
    const { id, key } = await app.createKey({ name: 'limited' })
    const path = `/v1/environments/${app.developmentId}/quotas`
    const rule = { scope: 'key', scope_ref: id, metric: 'requests', window: 'day', limit: 4 }
    await app.manage('POST', path, rule)
    const answered = await ask(key)
    await app.findLog(answered.headers.get('x-request-id') ?? '')
    await dashboard.openAsOwner('keys')
    await page.getByRole('link', { name: 'limited' }).click()
    await page.getByRole('heading', { name: 'limited', level: 1 }).waitFor()
    const limit = page.getByRole('row').filter({ hasText: 'At most 4 requests a day' })
    await limit.waitFor()
    expect(await limit.textContent()).toMatch(/^This key.*quota_exceeded.*1 \(25\s%\)/)
    await watched.expectClean()
  })

  test('the catalogue begins with the models that can be called here', async () => {
    const { page, watched } = dashboard
    await dashboard.openAsOwner('models')
    const rows = page.getByRole('region', { name: 'Models', exact: true }).getByRole('row')
    await rows.nth(1).getByText('callable').waitFor()
    const names = (await rows.allTextContents()).slice(1)
    const others = names.findIndex(text => !text.startsWith('sandbox/'))
    expect(others).toBeGreaterThan(0)
    expect(names.slice(others).filter(text => text.startsWith('sandbox/'))).toEqual([])
    await watched.expectClean()
  })

  test('a provider key is explained, added, and refused with the reason', async () => {
    const { page, watched } = dashboard
    await dashboard.openAsOwner('providers')
    await page.getByRole('button', { name: 'Add provider' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Provider').selectOption('Azure OpenAI')
    await dialog.getByText('The name before .openai.azure.com').waitFor()
    await dialog.getByLabel('Provider').selectOption('vLLM')
    await dialog.getByLabel('Name').fill('Our own')
    await dialog.getByLabel('Address').fill('http://127.0.0.1:1/v1')
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Add and check' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await dialog.getByRole('alert').textContent()).toMatch(
      /^(The provider refused it|Not checked)\..{10}/,
    )
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row').filter({ hasText: 'Our own' }).waitFor()
    await watched.expectClean()
  })

  test('logs are filtered by the address, by the keyboard, and lead to one request', async () => {
    const { app, page, watched } = dashboard
    const { id, key } = await app.createKey({ name: 'for-logs' })
    const failed = await app.call(
      '/v1/chat',
      { model: 'sandbox/overloaded', messages: [{ role: 'user', content: 'x' }] },
      { key },
    )
    const answered = await ask(key)
    for (const each of [failed, answered]) await app.findLog(each.headers.get('x-request-id') ?? '')
    await dashboard.openAsOwner(`logs?key_id=${id}&colour=red`)
    const rows = page.getByRole('region', { name: 'Requests' }).getByRole('row')
    await rows.nth(2).waitFor()
    expect(await rows.count()).toBe(3)
    await page.getByLabel('Status').selectOption('5xx')
    await page.getByText('1 request that matches').waitFor()
    expect(new URL(page.url()).searchParams.get('status')).toBe('5xx')
    await page.reload()
    await rows.nth(1).waitFor()
    expect(await rows.count()).toBe(2)
    await page.goBack()
    await rows.nth(2).waitFor()
    await page.goForward()
    await page.getByLabel('Error code').fill('nothing_such')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No request matches' }).waitFor()
    expect(await rows.count()).toBe(0)
    await watched.expectClean()
    await page.getByRole('button', { name: 'Clear error code' }).click()
    await rows.nth(1).getByRole('link').click()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    await page.getByText('Attempt 1').waitFor()
    await page.getByText('It failed with').waitFor()
    await watched.expectClean()
  })

  test('one request is shown as a conversation and raw, copied as a command, and opened in the playground', async () => {
    const { app, page, watched } = dashboard
    const { key } = await app.createKey({ name: 'for-one-request' })
    const messages = [
      { role: 'system', content: 'Repeat it.' },
      { role: 'user', content: 'These words are mine.' },
    ]
    const answered = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    const requestId = answered.headers.get('x-request-id') ?? ''
    await app.findLog(requestId)
    await dashboard.openAsOwner(`logs/${requestId}`)
    const shown = page.getByRole('region', { name: 'Conversation' }).getByRole('listitem')
    await shown.nth(2).waitFor()
    expect(await shown.allInnerTexts()).toEqual([
      expect.stringMatching(/^system\s+Repeat it\.$/),
      expect.stringMatching(/^user\s+These words are mine\.$/),
      expect.stringMatching(/^assistant\s+\S/),
    ])
    // The record of a request names the model as the request did.
    await page.getByRole('heading', { name: 'sandbox/echo', level: 1, exact: true }).waitFor()
    await page.getByText('Cost of input').waitFor()
    await page.getByText('for-one-request', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor()
    await watched.expectClean()
    await page.getByRole('button', { name: 'Raw' }).click()
    await page.getByRole('heading', { name: 'Answer' }).waitFor()
    await page.getByText('"content": "These words are mine."').first().waitFor()
    await watched.expectClean()
    await page.getByRole('button', { name: 'Open in playground' }).click()
    const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true })
    await prompt.waitFor()
    expect(await prompt.inputValue()).toBe('These words are mine.')
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Repeat it.')
  })

  test('a session that ends in the middle of a form asks for the sign-in over it, and the form keeps its content', async () => {
    const { page, watched } = dashboard
    await dashboard.openAsOwner('keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('kept')
    await watched.context.clearCookies()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const signIn = page.getByRole('dialog', { name: 'Your session has ended' })
    await signIn.getByLabel('Password').fill('a long enough password')
    await signIn.getByRole('button', { name: 'Sign in' }).click()
    await signIn.waitFor({ state: 'detached' })
    const form = page.getByRole('dialog', { name: 'Create a development key' })
    expect(await form.getByLabel('Name').inputValue()).toBe('kept')
    await form.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('heading', { name: 'kept is ready' }).waitFor()
    expect(watched.complaints).toEqual([])
  })

  test('a viewer sees each write disabled, with the reason', async () => {
    const { app, page, watched } = dashboard
    const invited = await app.manage('POST', `/v1/orgs/${app.orgId}/members`, {
      email: 'vi@example.com',
      role: 'viewer',
    })
    await page.goto(invited.body.accept_url.replace(/^https?:\/\/[^/]+/, app.controlUrl))
    await page.getByRole('heading', { name: 'Join Test' }).waitFor()
    await page.getByText('You have been invited as viewer with the e-mail vi@example.com.').waitFor()
    expect(page.url()).not.toContain('token')
    await watched.expectClean()
    await page.getByLabel('Password').fill('another long password')
    await page.getByRole('button', { name: 'Join' }).click()
    for (const [path, button] of [
      ['keys', 'Create key'],
      ['providers', 'Add provider'],
      ['models', 'Create alias'],
      ['limits', 'Add limit'],
      ['playground', 'Send'],
    ] as const) {
      await page.getByRole('link', { name: path, exact: false }).first().click()
      const write = page.getByRole('button', { name: button })
      expect(await write.getAttribute('aria-disabled')).toBe('true')
      await write.focus()
      await page.getByText('Needs the developer role. You are a viewer in Test').first().waitFor()
    }
    await watched.expectClean()
  })
})
