import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import sdk from '../../sdk/package.json' with { type: 'json' }
import { toPlatformSnippets } from '../pages/client-auth/platform-snippets.ts'
import { maskKey, SDK_INSTALL, toBrowserSnippet, toSnippets } from './snippets.ts'

const input = {
  gatewayUrl: 'http://127.0.0.1:8787',
  prefixes: { openai: '/openai', anthropic: '/anthropic' },
  key: 'rd_sk_dev_0123456789abcdef',
  model: 'sandbox/echo',
  prompt: 'It\'s "fine"\n$HOME',
}

test('curl sends the prompt as it is, whatever quotes it has', () => {
  const text = toSnippets(input).find(({ id }) => id === 'curl')?.text ?? ''
  // The shell's own reading of the last argument.
  const sent = execFileSync('sh', ['-c', text.replace(/^curl [^]*?-d /, 'printf %s ')], { encoding: 'utf8' })
  expect(JSON.parse(sent)).toEqual({
    model: 'sandbox/echo',
    messages: [{ role: 'user', content: input.prompt }],
  })
})

test('every snippet names this gateway and the key', () => {
  for (const { text } of toSnippets(input)) {
    expect(text).toContain('http://127.0.0.1:8787')
    expect(text).toContain(input.key)
    expect(text).toContain('sandbox/echo')
  }
})

test('a masked key keeps its kind and its last four characters', () => {
  expect(maskKey(input.key)).toBe('rd_sk_dev_••••••••cdef')
  expect(maskKey('rd_mk_0123456789abcdef')).toBe('rd_mk_••••••••cdef')
})

test('snippets of the client library install the file that npm pack writes, not a package of the registry', () => {
  const file = `${sdk.name.replace('@', '').replace('/', '-')}-${sdk.version}.tgz`
  expect(SDK_INSTALL.at(-1)?.command).toBe(`npm install ./${file}`)
  const platforms = toPlatformSnippets({ gatewayUrl: input.gatewayUrl, model: input.model })
  const using = [toBrowserSnippet(input), ...platforms].filter(({ text }) => text.includes("'@rideau/sdk"))
  expect(using.map(({ id }) => id)).toEqual(['browser', 'web', 'backend', 'react-native'])
  for (const { install } of using) expect(install).toEqual(SDK_INSTALL)
})
