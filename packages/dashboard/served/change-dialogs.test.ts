import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../server/testing/fakes/scripted-upstream.ts'
import { describeDashboard } from '../testing/describe-dashboard.ts'

describeDashboard('the dialog that changes', dashboard => {
  let upstream: ScriptedUpstream
  beforeAll(async () => {
    upstream = await openScriptedUpstream({ scriptsLists: true })
  })
  afterAll(() => upstream?.close())

  const read = async (path: string) => (await dashboard.app.manage('GET', path)).body
  const models = (...ids: string[]) => json(200, { object: 'list', data: ids.map(id => ({ id })) })

  test('an alias keeps the timeout and the attempts of a target that is renamed, and changes them', async () => {
    const { app, page, watched } = dashboard
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, {
      alias: 'careful',
      strategy: 'priority',
      targets: [
        { model: 'sandbox/echo', timeout_ms: 5_000, max_retries: 4 },
        { model: 'sandbox/json', timeout_ms: 9_000 },
      ],
    })
    await dashboard.openAsOwner('models')
    await dashboard.chooseAction('careful', 'Change…')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Target 1', { exact: true }).fill('sandbox/tools')
    await dialog.getByLabel('Timeout in ms of target 2').fill('')
    await dialog.getByLabel('Retries of target 2').fill('0')
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await read(`/v1/model-aliases/${made.body.id}`)).targets).toMatchObject([
      { model: 'sandbox/tools', timeout_ms: 5_000, max_retries: 4 },
      { model: 'sandbox/json', timeout_ms: null, max_retries: 0 },
    ])
  })

  test('a provider key changes the name and share alone, then the key, which the provider is asked about', async () => {
    const { app, page, watched } = dashboard
    upstream.script(models('a'))
    const options = { region: 'eu-west-1', access_key_id: 'AKID', session_token: 'of-the-session' }
    const id = await app.addCredential('bedrock', { api_key: 'old', base_url: upstream.baseUrl, options })
    await dashboard.openAsOwner('providers')
    await dashboard.chooseAction('bedrock', 'Change…')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Bedrock')
    await dialog.getByLabel('Share').fill('3')
    expect(await dialog.getByLabel('Region').inputValue()).toBe('eu-west-1')
    expect(await dialog.getByLabel('Session token').inputValue()).toBe('')
    const path = `/v1/provider-credentials/${id}`
    const before = await read(path)
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await read(path)).toEqual({
      ...before,
      name: 'Bedrock',
      weight: 3,
      updated_at: expect.any(String),
    })

    await dashboard.chooseAction('Bedrock', 'Change…')
    await dialog.getByLabel('New API key').fill('rotated')
    upstream.script(models('a', 'b'))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Valid.').waitFor()
    const after = await read(path)
    expect(after.key_fingerprint).not.toBe(before.key_fingerprint)
    const { session_token: _, ...shown } = options
    const { rows } = await app.database.pool.query(
      'select options, options_cipher is not null as is_sealed from provider_credentials where id = $1',
      [id],
    )
    expect(rows).toEqual([{ options: shown, is_sealed: true }])
  })

  test('a provider key asks for the key again, and says why, once the address is another', async () => {
    const { app, page } = dashboard
    upstream.script(models('a'))
    const id = await app.addCredential('openai', { api_key: 'old', base_url: upstream.baseUrl })
    await dashboard.openAsOwner('providers')
    await dashboard.chooseAction('openai', 'Change…')
    const dialog = page.getByRole('dialog')
    const key = dialog.getByLabel('New API key')
    expect(await key.getAttribute('required')).toBeNull()
    await dialog.getByLabel('Address').fill('')
    await dialog.getByText('a stored key is never sent to a new address').waitFor()
    expect(await key.getAttribute('required')).toBe('')
    await dialog.getByLabel('Address').fill(`${upstream.baseUrl}/other`)
    await key.fill('for-the-new-place')
    upstream.script(models('a', 'b'))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Valid.').waitFor()
    expect((await read(`/v1/provider-credentials/${id}`)).base_url).toBe(`${upstream.baseUrl}/other`)
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer for-the-new-place')
  })

  test('a key changes its restrictions and its end, and keeps what the form leaves', async () => {
    const { app, page, watched } = dashboard
    const { id } = await app.createKey({
      name: 'worker',
      restrictions: { allowed_models: ['openai/*'], allowed_endpoints: ['chat', 'audio'] },
      expires_at: '2099-01-01T00:00:00.000Z',
    })
    await dashboard.openAsOwner('keys')
    await dashboard.chooseAction('worker', 'Change…')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Models').fill('sandbox/*\nfast')
    await dialog.getByLabel('embeddings').check()
    await dialog.getByLabel('Maximum cost of one request').fill('0.25')
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await read(`/v1/keys/${id}`)).toMatchObject({
      name: 'worker',
      restrictions: {
        allowed_models: ['sandbox/*', 'fast'],
        allowed_endpoints: ['chat', 'embeddings', 'audio'],
        max_request_cost_usd: 0.25,
      },
      expires_at: '2099-01-01T00:00:00.000Z',
    })
    await dashboard.chooseAction('worker', 'Change…')
    await dialog.getByLabel('Expires').selectOption('Never')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await read(`/v1/keys/${id}`)).expires_at).toBeNull()
  })

  test('a publishable key is shown again, a secret one is not', async () => {
    const { app, page, watched } = dashboard
    const { key } = await app.createKey({ kind: 'publishable', name: 'in-the-app' })
    await app.createKey({ name: 'on-the-server' })
    await dashboard.openAsOwner('keys')
    await dashboard.chooseAction('in-the-app', 'Show key')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(key).waitFor()
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Actions for on-the-server' }).click()
    await page.getByRole('menuitem', { name: 'Change…' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Show key' }).count()).toBe(0)
  })

  test("a model of one's own changes, and keeps the prices that the form does not show", async () => {
    const { app, page, watched } = dashboard
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/custom-models`, {
      model: 'openai/our-tune',
      capabilities: ['chat', 'vision'],
      context_window: 8_000,
      max_output_tokens: 1_000,
      pricing: { input_usd_per_mtok: 2, output_usd_per_mtok: 6, cached_input_usd_per_mtok: 0.5 },
    })
    await dashboard.openAsOwner('models')
    await dashboard.chooseAction('openai/our-tune', 'Change…')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Tools').check()
    await dialog.getByLabel('Context, in tokens').fill('')
    await dialog.getByLabel('Output, US dollars').fill('7')
    await watched.expectClean()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row').filter({ hasText: 'openai/our-tune' }).getByText('$2.00 / $7.00').waitFor()
    const { data } = await read(`/v1/environments/${app.developmentId}/custom-models`)
    expect(data.find(({ id }: { id: string }) => id === made.body.id)).toMatchObject({
      capabilities: ['chat', 'tools', 'vision'],
      context_window: null,
      max_output_tokens: 1_000,
      pricing: { input_usd_per_mtok: 2, output_usd_per_mtok: 7, cached_input_usd_per_mtok: 0.5 },
    })
  })

  test("a model of one's own with one price alone is refused at the empty field, and with none is unpriced", async () => {
    const { app, page, watched } = dashboard
    await dashboard.openAsOwner('models')
    await page.getByRole('button', { name: 'Add a model' }).click()
    const dialog = page.getByRole('dialog')
    const input = dialog.getByLabel('Input, US dollars')
    const output = dialog.getByLabel('Output, US dollars')
    await dialog.getByLabel('Model', { exact: true }).fill('openai/half-priced')
    for (const [filled, empty] of [
      [input, output],
      [output, input],
    ] as const) {
      await empty.fill('')
      await filled.fill('3')
      await dialog.getByRole('button', { name: 'Add model' }).click()
      await expect.poll(() => empty.getAttribute('aria-invalid')).toBe('true')
      await dialog.getByRole('alert').getByText('Fill in both prices, or neither').waitFor()
      const focused = page.locator('input:focus')
      await expect.poll(() => focused.getAttribute('name')).toBe(await empty.getAttribute('name'))
      await watched.expectClean()
    }
    const path = `/v1/environments/${app.developmentId}/custom-models`
    const priceOf = async () =>
      (await read(path)).data.find(({ model }: { model: string }) => model === 'openai/half-priced')?.pricing
    expect(await priceOf()).toBeUndefined()
    await input.fill('')
    await output.fill('')
    await dialog.getByRole('button', { name: 'Add model' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await priceOf()).toBeNull()
  })
})
