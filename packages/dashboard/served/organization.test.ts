import { expect, test } from 'vitest'
import { openIdentityProvider } from '../../server/testing/fakes/identity-provider.ts'
import { openWebhookReceiver } from '../../server/testing/fakes/webhook-receiver.ts'
import { describeDashboard } from '../testing/describe-dashboard.ts'
import { openWatchedPage } from '../testing/open-dashboard.ts'
import { signInAsOwner } from '../testing/sign-in.ts'

describeDashboard('the pages of an organization', dashboard => {
  /** Reads the secret of the dialog that shows it once, and closes it. */
  const takeSecret = async (): Promise<string> => {
    const { page, watched } = dashboard
    const dialog = page.getByRole('dialog')
    const secret = (await dialog.getByTestId('secret').textContent()) ?? ''
    await page.keyboard.press('Escape')
    await dialog.getByText(/You cannot see this \w+ again\./).waitFor()
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await dialog.waitFor({ state: 'detached' })
    return secret
  }

  test('a project is created, opened, renamed, and deleted by its name with what ends', async () => {
    const { app, page, watched } = dashboard
    await signInAsOwner(page, app.controlUrl, '/o/test/projects')
    await page.getByRole('button', { name: 'Create project' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Second app')
    await dialog.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('link', { name: 'Second app, production' }).click()
    await page.getByRole('button', { name: 'Project: Second app' }).waitFor()
    await page.getByRole('link', { name: 'Projects' }).click()
    await dashboard.chooseAction('Second app', 'Rename…')
    await dialog.getByLabel('Name').fill('Third app')
    await dialog.getByLabel('Slug').fill('default')
    await dialog.getByRole('button', { name: 'Save' }).click()
    // The slug belongs to the first project, so the failure appears at the field.
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Slug').fill('third-app')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Third app, development' }).waitFor()
    await dashboard.chooseAction('Third app', 'Delete…')
    await dialog.getByText('0 keys stop at once', { exact: false }).waitFor()
    const remove = dialog.getByRole('button', { name: 'Delete project' })
    expect(await remove.getAttribute('aria-disabled')).toBe('true')
    await watched.expectClean()
    await dialog.getByLabel('Type Third app to confirm').fill('Third app')
    await remove.click()
    await page.getByText('1 project, each with').waitFor()
  })

  test('a member is invited by a link that is shown once, changes role and sees less', async () => {
    const { app, browser, page, watched } = dashboard
    await signInAsOwner(page, app.controlUrl, '/o/test/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail').fill('grace@example.com')
    await dialog.getByLabel('Role').selectOption('developer')
    await dialog.getByRole('button', { name: 'Create invitation' }).click()
    const link = await takeSecret()
    await page.getByText('1 member, 1 invited').waitFor()

    const guest = await openWatchedPage(browser)
    await guest.page.goto(link.replace(/^https?:\/\/[^/]+/, app.controlUrl))
    await guest.page.getByRole('heading', { name: 'Join Test' }).waitFor()
    await guest.page.getByLabel('Password').fill('another long password')
    await guest.page.getByRole('button', { name: 'Join' }).click()
    await guest.page.getByRole('link', { name: 'Members' }).click()
    const invite = guest.page.getByRole('button', { name: 'Invite' })
    expect(await invite.getAttribute('aria-disabled')).toBe('true')
    await invite.focus()
    await guest.page.getByText('Needs the admin role. You are a developer in Test').first().waitFor()
    await guest.page.getByRole('link', { name: 'Keys', exact: true }).click()
    const create = guest.page.getByRole('button', { name: 'Create key' })
    expect(await create.getAttribute('aria-disabled')).toBeNull()

    await page.reload()
    await dashboard.chooseAction('grace@example.com', 'Change role…')
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByRole('button', { name: 'Save role' }).click()
    await page.getByRole('row').filter({ hasText: 'grace@' }).getByText('viewer').waitFor()
    await guest.page.reload()
    await create.waitFor()
    expect(await create.getAttribute('aria-disabled')).toBe('true')
    await guest.context.close()
    // The only owner cannot be removed.
    await dashboard.chooseAction('owner@example.com', 'Remove…')
    await dialog.getByLabel('Type owner@example.com to confirm').fill('owner@example.com')
    await dialog.getByRole('button', { name: 'Remove member' }).click()
    await dialog.getByText('resource_conflict').waitFor()
    await watched.expectClean()
  })

  test('a management key is shown once, works, and fails after it is revoked by its name', async () => {
    const { app, page, watched } = dashboard
    await signInAsOwner(page, app.controlUrl, '/o/test/management-keys')
    await page.getByRole('button', { name: 'Create management key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Terraform')
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = await takeSecret()
    expect(key).toMatch(/^rd_mk_/)
    const list = () =>
      fetch(`${app.controlUrl}/v1/orgs/${app.orgId}/projects`, {
        headers: { authorization: `Bearer ${key}` },
      })
    expect((await list()).status).toBe(200)
    await page.getByRole('button', { name: 'Revoke Terraform' }).click()
    await dialog.getByLabel('Type Terraform to confirm').fill('Terraform')
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
    expect((await list()).status).toBe(401)
    await watched.expectClean()
  })

  test('a webhook is added, tested, and shows what became of the test', async () => {
    const { app, page, watched } = dashboard
    const receiver = await openWebhookReceiver()
    try {
      await signInAsOwner(page, app.controlUrl, '/o/test/webhooks')
      await page.getByRole('button', { name: 'Add webhook' }).first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Address').fill(receiver.url)
      await dialog.getByLabel('A failing model is skipped').uncheck()
      await dialog.getByRole('button', { name: 'Add webhook' }).click()
      expect(await takeSecret()).toMatch(/^whsec_/)
      await page.getByRole('button', { name: `Deliveries to ${receiver.url}` }).click()
      await dialog.getByText('Nothing was sent in the last 30 days.').waitFor()
      await dialog.getByRole('button', { name: 'Send a test' }).click()
      await dialog.getByRole('cell', { name: 'webhook.test' }).waitFor()
      const [{ event } = { event: undefined }] = await receiver.until(1)
      expect(event).toMatchObject({ type: 'webhook.test' })
      await dialog.getByText('delivered', { exact: true }).waitFor()
      await watched.expectClean()
      await app.database.pool.query(
        `insert into webhook_deliveries
         select gen_random_uuid(), org_id, webhook_id, event, payload, 1, null, delivered_at, null, created_at
         from webhook_deliveries, generate_series(1, 20) where event = 'webhook.test'`,
      )
      await page.reload()
      await page.getByRole('button', { name: `Deliveries to ${receiver.url}` }).click()
      const tests = dialog.getByRole('cell', { name: 'webhook.test' })
      await tests.nth(19).waitFor()
      expect(await tests.count()).toBe(20)
      await dialog.getByRole('button', { name: 'Show more' }).click()
      await tests.nth(20).waitFor()
      expect(await dialog.getByRole('button', { name: 'Show more' }).count()).toBe(0)
      await watched.expectClean()
    } finally {
      await receiver.close()
    }
  })

  test('the audit log shows a change as a diff and filters by the address', async () => {
    const { app, page, watched } = dashboard
    await app.manage('PATCH', `/v1/environments/${app.productionId}`, { log_retention_days: 77 })
    await signInAsOwner(page, app.controlUrl, '/o/test/audit-log?operation=environments.update&colour=red')
    const entry = page.getByRole('list', { name: 'Entries' }).getByRole('listitem').first()
    await entry.getByText('environments.update').click()
    const row = entry.getByRole('row').filter({ hasText: 'log_retention_days' })
    expect(await row.getByRole('cell').allTextContents()).toEqual(['30', '77'])
    await entry.getByRole('button', { name: 'Only this resource' }).click()
    await page.getByText('one resource').waitFor()
    expect(new URL(page.url()).searchParams.get('resource_id')).toBe(app.productionId)
    await watched.expectClean()
    await page.getByLabel('Operation').fill('nothing.such')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
    await page.getByRole('button', { name: 'Clear all' }).first().click()
    await page.getByText('session.create').first().waitFor()
  })

  test('settings of the organization and of production are changed, full capture only with consent', async () => {
    const { app, page, watched } = dashboard
    await signInAsOwner(page, app.controlUrl, '/o/test/settings')
    await page.getByLabel('Time zone').fill('Mars/Olympus')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('must be a time zone of the IANA database', { exact: false }).first().waitFor()
    await page.getByLabel('Time zone').fill('Asia/Kolkata')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect((await app.manage('GET', `/v1/orgs/${app.orgId}`)).body.time_zone).toBe('Asia/Kolkata')
    await app.manage('PATCH', `/v1/orgs/${app.orgId}`, { time_zone: 'UTC' })

    await page.goto(`${app.controlUrl}/o/test/default/production/settings`)
    const ids = page.getByRole('region', { name: 'For the API' })
    await ids.getByText(app.productionId).waitFor()
    await ids.getByText(app.projectId).waitFor()
    await ids.getByRole('button', { name: 'Copy environment id' }).waitFor()
    await page.getByLabel('What the log keeps').selectOption('full')
    const save = page.getByRole('button', { name: 'Save' })
    expect(await save.getAttribute('aria-disabled')).toBe('true')
    await watched.expectClean()
    await page.getByLabel('Keep what users of production write and read').check()
    await page.getByLabel('Allowed models').fill('openai/*\nsandbox/echo')
    await save.click()
    await page.getByLabel('Keep what users of production write and read').waitFor({ state: 'detached' })
    const { body } = await app.manage('GET', `/v1/environments/${app.productionId}`)
    expect([body.log_capture, body.allowed_models]).toEqual(['full', ['openai/*', 'sandbox/echo']])
  })

  test('an identity provider is set up and tested with a token, and origins are stored', async () => {
    const { app, page, watched } = dashboard
    const provider = await openIdentityProvider()
    try {
      await dashboard.openAsOwner('client-auth')
      await page.getByText('Only your backend can give users tokens.').waitFor()
      await page.getByRole('button', { name: 'Set up identity provider' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Your users sign in with').selectOption('Another OpenID provider')
      await dialog.getByLabel('Issuer').fill('http://127.0.0.1:1')
      await dialog.getByLabel('Audiences').fill('app')
      await dialog.getByRole('button', { name: 'Check and save' }).click()
      await dialog.getByText('federated_config_invalid').waitFor()
      await watched.expectClean()
      await dialog.getByLabel('Issuer').fill(provider.issuer)
      await dialog.getByRole('button', { name: 'Check and save' }).click()
      await page.getByText('Users get tokens through your identity provider.').waitFor()

      const token = page.getByLabel('A token from one of your users')
      await token.fill(await provider.sign({ sub: 'zoë' }, Date.now()))
      await page.getByRole('button', { name: 'Test token' }).click()
      await page.getByText('Valid: zoë would get a client token.').waitFor()
      await token.fill(await provider.sign({ aud: 'another-app' }, Date.now()))
      await page.getByRole('button', { name: 'Test token' }).click()
      await page.getByText(/^Refused: /).waitFor()
      await page.getByText('another-app', { exact: true }).waitFor()

      await page.getByLabel('Origins, one per line').fill('https://app.example.com/path')
      await page.getByRole('button', { name: 'Save origins' }).click()
      await page.getByText('must be an origin such as', { exact: false }).waitFor()
      await page.getByLabel('Origins, one per line').fill('https://app.example.com')
      await page.getByRole('button', { name: 'Save origins' }).click()
      await expect
        .poll(async () => (await app.manage('GET', `/v1/projects/${app.projectId}`)).body.allowed_origins)
        .toEqual(['https://app.example.com'])
      for (const tab of ['Your backend', 'React Native', 'iOS', 'Android'])
        await page.getByRole('tab', { name: tab }).click()
      await watched.expectClean()
      await page.getByRole('button', { name: 'Remove identity provider' }).click()
      await dialog.getByLabel('Type Default to confirm').fill('Default')
      await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByText('Only your backend can give users tokens.').waitFor()
    } finally {
      await provider.close()
    }
  })

  test('devices are set up and turned off', async () => {
    const { page, watched } = dashboard
    await dashboard.openAsOwner('client-auth')
    await page.getByRole('button', { name: 'Set up devices' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Team id').fill('short')
    await dialog.getByLabel('Bundle ids').fill('com.example.app')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('must have 10 characters', { exact: false }).first().waitFor()
    await dialog.getByLabel('Team id').fill('ABCDE12345')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Users get tokens through their device.').waitFor()
    await page.getByText('com.example.app').waitFor()
    await watched.expectClean()
  })

  test('a viewer sees each write of these pages disabled with the reason', async () => {
    const { app, page, watched } = dashboard
    const invited = await app.manage('POST', `/v1/orgs/${app.orgId}/members`, {
      email: 'vi@example.com',
      role: 'viewer',
    })
    await page.goto(invited.body.accept_url.replace(/^https?:\/\/[^/]+/, app.controlUrl))
    await page.getByLabel('Password').fill('another long password')
    await page.getByRole('button', { name: 'Join' }).click()
    for (const [link, button, role] of [
      ['Projects', 'Create project', 'admin'],
      ['Projects', 'Actions for Default', 'admin'],
      ['Members', 'Invite', 'admin'],
      ['Management keys', 'Create management key', 'owner'],
      ['Webhooks', 'Add webhook', 'admin'],
      ['Organization settings', 'Save', 'admin'],
      ['Organization settings', 'Delete organization', 'owner'],
      ['Environment settings', 'Save', 'admin'],
      ['Client auth', 'Save origins', 'admin'],
      ['Client auth', /(Set up|Change) identity provider/, 'admin'],
      ['Client auth', /(Set up|Change) devices/, 'admin'],
    ] as const) {
      await page.getByRole('link', { name: link, exact: true }).click()
      const write = page.getByRole('button', { name: button }).first()
      await write.waitFor()
      expect([link, button, await write.getAttribute('aria-disabled')]).toEqual([link, button, 'true'])
      await write.focus()
      await write.locator('..').getByText(`Needs the ${role} role. You are a viewer in Test`).waitFor()
    }
    await watched.expectClean()
  })

  test('the palette opens by the keyboard, finds pages, environments, keys and a pasted request', async () => {
    const { app, page, watched } = dashboard
    const { key } = await app.createKey({ name: 'zebra-key' })
    const answered = await app.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] },
      { key },
    )
    const requestId = answered.headers.get('x-request-id') ?? ''
    await app.findLog(requestId)
    await dashboard.openAsOwner('keys')
    const dialog = page.getByRole('dialog', { name: 'Search or jump' })
    const jump = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await dialog.getByPlaceholder('A page, an environment').waitFor()
      await page.keyboard.type(text)
      await dialog.getByRole('option').first().waitFor()
    }
    await jump('web')
    await watched.expectClean()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
    await jump('default prod')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Environment: production' }).waitFor()
    await jump('default dev')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Environment: development' }).waitFor()
    await jump('zebra')
    await dialog.getByRole('option', { name: /^zebra-key/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor()
    expect(new URL(page.url()).searchParams.get('key_id')).toMatch(/^[0-9a-f-]{36}$/)
    await jump(requestId)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await watched.expectClean()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('the password is changed in the account, and signing out everywhere ends the other browser', async () => {
    const { app, browser, page, watched } = dashboard
    const invited = await app.manage('POST', `/v1/orgs/${app.orgId}/members`, {
      email: 'radia@example.com',
      role: 'admin',
    })
    await page.goto(invited.body.accept_url.replace(/^https?:\/\/[^/]+/, app.controlUrl))
    await page.getByLabel('Password').fill('the first password')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('button', { name: /^Your account/ }).click()
    await page.getByRole('menuitem', { name: 'Account', exact: true }).click()
    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password').fill('the second password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Current password').fill('the first password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed. You stay signed in here.').waitFor()
    await watched.expectClean()

    const other = await openWatchedPage(browser)
    await other.page.goto(`${app.controlUrl}/sign-in`)
    await other.page.getByLabel('E-mail').fill('radia@example.com')
    await other.page.getByLabel('Password').fill('the second password')
    await other.page.getByRole('button', { name: 'Sign in' }).click()
    await other.page.getByRole('button', { name: /^Environment: / }).waitFor()
    await page.getByRole('button', { name: 'Sign out on all devices' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.page.reload()
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.context.close()
  })
})
