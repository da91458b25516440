import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gateAnswers } from '../../server/testing/fakes/gated-answers.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../../server/testing/fakes/scripted-upstream.ts'
import { toMoney } from '../format/money.ts'
import { DEVELOPMENT, describeDashboard } from '../testing/describe-dashboard.ts'

const run = promisify(execFile)

describeDashboard('with a provider that answers', dashboard => {
  let upstream: ScriptedUpstream
  beforeAll(async () => {
    upstream = await openScriptedUpstream({ scriptsLists: true })
  })
  afterAll(() => upstream?.close())

  const sendJson = (status: number, body: unknown) => (res: ServerResponse) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

  test('a wrong key is refused with the reason, and a right one says how many models it opens', async () => {
    const { page, watched } = dashboard
    await dashboard.openAsOwner('providers')
    const dialog = page.getByRole('dialog')
    const add = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Add provider' }).click()
      await dialog.getByLabel('Provider').selectOption('vLLM')
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByLabel('Address').fill(upstream.baseUrl)
      await dialog.getByRole('button', { name: 'Add and check' }).click()
    }
    upstream.script(sendJson(401, { error: { message: 'Incorrect API key provided' } }))
    await add('Wrong')
    await dialog.getByText('The provider refused it.').waitFor()
    await dialog.getByText('The provider refused this credential.').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row').filter({ hasText: 'Wrong' }).getByText('fails').waitFor()

    upstream.script(
      sendJson(200, { object: 'list', data: ['a', 'b', 'c'].map(id => ({ id, object: 'model' })) }),
    )
    await add('Right')
    await dialog.getByText('Valid.').waitFor()
    await dialog.getByText('3 of its models can be called here.').waitFor()
    await watched.expectClean()
  })

  test('a budget shows what is spent and reserved as the API says, and its refusal leads to it', async () => {
    const { app, page, watched } = dashboard
    upstream.script(sendJson(200, { object: 'list', data: [] }))
    await app.addCredential('openai', { api_key: 'sk-test', base_url: upstream.baseUrl })
    const { body: budget } = await app.manage('POST', `/v1/projects/${app.projectId}/budgets`, {
      limit_usd: 0.01,
      window: 'month',
    })
    const gate = gateAnswers(upstream, [
      sendJson(200, {
        id: 'x',
        object: 'chat.completion',
        model: 'gpt-4o-mini',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 },
      }),
    ])
    const request = {
      model: 'openai/gpt-4o-mini',
      max_tokens: 4_000,
      messages: [{ role: 'user', content: 'hi' }],
    }
    const answer = app.call('/v1/chat', request)
    await gate.arrived()
    const read = async (): Promise<{ spent_usd: number; reserved_usd: number | null }> => {
      const { body } = await app.manage('GET', `/v1/projects/${app.projectId}/budgets`)
      return body.data.find(({ id }: { id: string }) => id === budget.id)
    }
    const { spent_usd: spent, reserved_usd: reserved } = await read()
    expect(spent).toBe(0)
    expect(reserved).toBeGreaterThan(0.002)
    await dashboard.openAsOwner('overview')
    const item = page.getByRole('region', { name: /^Budgets of/ }).getByRole('listitem')
    await item.getByText(`$0 of $0.0100 a month + ${toMoney(reserved)} reserved`).waitFor()
    const widths = await item
      .locator('.meter-bar > span')
      .evaluateAll(all =>
        all.map(each => parseFloat((each as unknown as { style: { width: string } }).style.width)),
      )
    expect(widths[0]).toBe(0)
    expect(widths[1]).toBeCloseTo((100 * (reserved ?? 0)) / 0.01, 3)

    gate.open()
    expect((await answer).status).toBe(200)
    await expect.poll(async () => (await read()).reserved_usd, { timeout: 20_000 }).toBe(0)
    const after = await read()
    expect(after.spent_usd).toBeGreaterThan(0)
    await page.reload()
    await item.getByText(`${toMoney(after.spent_usd)} of $0.0100 a month`, { exact: true }).waitFor()

    await app.manage('PATCH', `/v1/budgets/${budget.id}`, { limit_usd: 0.000001 })
    await page.goto(`${app.controlUrl}${DEVELOPMENT}/playground`)
    await page.getByLabel('Model', { exact: true }).selectOption('openai/gpt-4o-mini')
    await page.getByLabel('Prompt', { exact: true }).fill('Over it')
    await page.keyboard.press('Control+Enter')
    const refusal = page.getByRole('list', { name: 'Messages', exact: true }).getByRole('alert')
    await refusal.getByText('budget_exceeded · status 402').waitFor()
    await watched.expectClean()
    await refusal.getByRole('link', { name: 'See what limits it' }).click()
    await page.getByRole('region', { name: 'Limits' }).getByText('budget_exceeded').first().waitFor()
    await app.manage('DELETE', `/v1/budgets/${budget.id}`)
  })

  test('each snippet of a new key runs as it was copied', async () => {
    const { page } = dashboard
    await page.addInitScript(
      'Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text } } })',
    )
    await dashboard.openAsOwner('keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('for-snippets')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByTestId('secret').waitFor()
    const copy = async (tab: string): Promise<string> => {
      await dialog.getByRole('tab', { name: tab }).click()
      await dialog.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click()
      await dialog.getByRole('tabpanel').getByText('Copied.').waitFor()
      return await page.evaluate<string>('window.copied')
    }
    const { stdout } = await run('sh', ['-c', await copy('curl')])
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' })
    // Inside the repository, whose packages are those that a snippet says to install.
    const cache = path.join(import.meta.dirname, '../../../.cache')
    await fs.mkdir(cache, { recursive: true })
    const folder = await fs.mkdtemp(path.join(cache, 'snippets-'))
    try {
      for (const tab of ['OpenAI, TypeScript', 'Anthropic', 'AI SDK']) {
        const file = path.join(folder, 'snippet.mjs')
        await fs.writeFile(file, await copy(tab))
        const printed = await run(process.execPath, [file])
        expect([tab, printed.stdout]).toEqual([tab, expect.stringContaining('Hello')])
      }
    } finally {
      await fs.rm(folder, { recursive: true })
    }
    expect(await copy('Claude Code')).toMatch(
      /^export ANTHROPIC_BASE_URL=http:.*\nexport ANTHROPIC_AUTH_TOKEN=rd_sk_dev_/,
    )
  })
})
