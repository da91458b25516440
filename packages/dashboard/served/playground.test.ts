import { beforeEach, expect, test } from 'vitest'
import { describeDashboard } from '../testing/describe-dashboard.ts'

const TOOLS = '[{"type":"function","function":{"name":"find_weather","parameters":{"type":"object"}}}]'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describeDashboard('the playground', dashboard => {
  beforeEach(async () => {
    await dashboard.openAsOwner('playground')
    await dashboard.page.getByLabel('Prompt', { exact: true }).waitFor()
  })

  const send = async (prompt: string): Promise<void> => {
    const { page } = dashboard
    await page.getByLabel('Prompt', { exact: true }).fill(prompt)
    await page.keyboard.press('Control+Enter')
  }

  test('two models answer the same prompt side by side, each with its figures', async () => {
    const { page, watched } = dashboard
    await page.getByLabel('Compare with').selectOption('sandbox/json')
    await send('Compare this')
    const [first, second] = [
      page.getByRole('list', { name: 'Messages', exact: true }),
      page.getByRole('list', { name: 'Messages of sandbox/json' }),
    ]
    await first.getByText('See it in Logs').waitFor()
    await second.getByText('See it in Logs').waitFor()
    expect(await first.textContent()).toContain('sandbox/echo')
    expect(await second.textContent()).toContain('Compare this')
    await watched.expectClean()
  })

  test('tools are sent, and what the model asks for is shown', async () => {
    const { page, watched } = dashboard
    await page.getByLabel('Model', { exact: true }).selectOption('sandbox/tools')
    await page.getByText('Tools and schema').click()
    await page.getByLabel('Tools').fill('{ no JSON')
    await send('Weather?')
    // Nothing is sent while the JSON is wrong.
    await page.getByText('Must be JSON: a list of tools', { exact: false }).waitFor()
    expect(watched.sent.filter(each => each.includes('/v1/chat'))).toEqual([])
    await page.getByLabel('Tools').fill(TOOLS)
    await send('Weather?')
    await page.getByText('Calls the tool').waitFor()
    await page.getByText(/^find_weather\(/).waitFor()
    await watched.expectClean()
    await page.getByLabel('Result of find_weather').fill('It snows.')
    const [sent] = await Promise.all([
      page.waitForRequest(request => request.method() === 'POST' && request.url().endsWith('/v1/chat')),
      page.getByRole('button', { name: 'Send the result' }).click(),
    ])
    const { messages } = sent.postDataJSON()
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(messages[2].tool_call_id).toBe(messages[1].tool_calls[0].id)
    await page.getByText('Result of the tool').waitFor()
    await page.getByText('See it in Logs').nth(1).waitFor()
    expect(await page.getByLabel('Messages', { exact: true }).textContent()).toContain('It snows.')
    await watched.expectClean()
  })

  test('parameters, a schema and an image are part of the request and of the equivalent code', async () => {
    const { page, watched } = dashboard
    await page.getByText('Parameters', { exact: true }).click()
    await page.getByLabel('Seed').fill('7')
    await page.getByLabel('Reasoning effort').selectOption('low')
    await page.getByText('Tools and schema').click()
    await page.getByLabel('Response schema').fill('{"type":"object"}')
    await page.getByLabel('Add images').setInputFiles({
      name: 'pixel.png',
      mimeType: 'image/png',
      buffer: Buffer.from(PIXEL, 'base64'),
    })
    await page.getByRole('img', { name: 'Chosen image 1' }).waitFor()
    await page.getByText('The same request as code').click()
    const code = page.getByRole('tabpanel')
    for (const part of ['"seed": 7', '"reasoning_effort": "low"', '"json_schema"', 'data:image/png;base64,'])
      expect(await code.textContent()).toContain(part)
    await page.getByRole('tab', { name: 'Python' }).click()
    expect(await code.textContent()).toContain('seed=7')
    await watched.expectClean()
    const sent = page.waitForRequest(request => request.url().endsWith('/v1/chat'))
    await send('Look')
    const body = (await sent).postDataJSON()
    expect(body).toMatchObject({ seed: 7, reasoning_effort: 'low', response_format: { type: 'json_schema' } })
    expect(body.messages.at(-1).content[1].image_url.url).toContain(PIXEL)
    await page.getByRole('img', { name: 'Image 1 of the prompt' }).waitFor()
    // The next prompt starts without it.
    expect(await page.getByRole('img', { name: 'Chosen image 1' }).count()).toBe(0)
  })

  test('the code shows the request that was sent, until the next prompt is written', async () => {
    const { page } = dashboard
    await page.getByText('The same request as code').click()
    const code = page.getByRole('tabpanel')
    await send('The first prompt')
    await page.getByText('See it in Logs').waitFor()
    expect(await code.textContent()).toContain('The first prompt')
    expect(await code.textContent()).not.toContain('"role": "assistant"')
    await page.getByLabel('Prompt', { exact: true }).fill('The second prompt')
    for (const part of ['The first prompt', '"role": "assistant"', 'The second prompt'])
      expect(await code.textContent()).toContain(part)
  })

  test('production without a provider leads to the providers, and begins with a model once there is one', async () => {
    const { app, page, watched } = dashboard
    const open = async (): Promise<void> => {
      await page.goto(`${app.controlUrl}/o/test/default/production/playground`)
    }
    await open()
    await page.getByRole('heading', { name: 'No model to call yet' }).waitFor()
    expect(await page.getByRole('button', { name: 'Send' }).getAttribute('aria-disabled')).toBe('true')
    await watched.expectClean()
    const made = await app.manage('POST', `/v1/environments/${app.productionId}/provider-credentials`, {
      provider: 'openai',
      name: 'made up',
      api_key: 'sk-made-up-for-the-playground',
    })
    expect(made.status).toBe(201)
    await open()
    await expect.poll(() => page.getByLabel('Model', { exact: true }).inputValue()).toMatch(/^openai\//)
    await page.getByText('Real requests in this environment', { exact: false }).waitFor()
    await watched.expectClean()
  })
})
