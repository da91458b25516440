import type { Provider } from '@rideau/llm/provider/provider'
import { expect, test } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { parseApiKey } from './credential-body.ts'
import { parseOptions } from './parse-options.ts'

const provider: Provider = {
  id: 'p',
  name: 'P',
  format: 'openai-chat',
  baseUrl: null,
  auth: 'bearer',
  models: 'catalog',
  options: [
    { name: 'region', type: 'text', required: true, secret: false, label: 'Region', help: '' },
    { name: 'deployments', type: 'map', required: false, secret: false, label: 'Deployments', help: '' },
  ],
}

function paramOf(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    return error instanceof Fault ? error.param : String(error)
  }
  return undefined
}

test('keeps the options of the provider, and treats null as absent', () => {
  const options = { region: 'eu-1', deployments: { 'gpt-4o': 'mine' } }
  expect(parseOptions(provider, options)).toEqual(options)
  expect(parseOptions(provider, { region: 'eu-1', deployments: null })).toEqual({ region: 'eu-1' })
})

test.each([
  [{}, 'options.region'],
  [{ region: null }, 'options.region'],
  [{ region: '' }, 'options.region'],
  [{ region: 1 }, 'options.region'],
  [{ region: 'a\nb' }, 'options.region'],
  [{ region: 'x'.repeat(4097) }, 'options.region'],
  [{ region: 'eu-1', zone: 'a' }, 'options.zone'],
  [{ region: 'eu-1', deployments: [] }, 'options.deployments'],
  [{ region: 'eu-1', deployments: { m: 1 } }, 'options.deployments.m'],
])('rejects %j and names the option', (options, param) => {
  expect(paramOf(() => parseOptions(provider, options))).toBe(param)
})

test('accepts line breaks in a key only if it is a document', () => {
  const key = '{\n  "type": "service_account"\n}'
  expect(parseApiKey({ ...provider, keyIsDocument: true }, key)).toBe(key)
  expect(paramOf(() => parseApiKey(provider, key))).toBe('api_key')
})

test("rejects an option in the provider's address that would change the host", () => {
  const regional = { ...provider, baseUrl: 'https://api.{region}.example.com' }
  expect(parseOptions(regional, { region: 'eu-1' })).toEqual({ region: 'eu-1' })
  expect(paramOf(() => parseOptions(regional, { region: 'evil.com/' }))).toBe('options.region')
})
