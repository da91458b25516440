import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findProvider, PROVIDERS } from './index.ts'

const PACKAGES = fileURLToPath(new URL('../..', import.meta.url))

describe('findProvider', () => {
  test('by id, once each', () => {
    expect(new Set(PROVIDERS.map(({ id }) => id)).size).toBe(PROVIDERS.length)
    for (const provider of PROVIDERS) expect(findProvider(provider.id)).toBe(provider)
  })

  test('custom-<slug> is a custom server of its own', () => {
    expect(findProvider('custom-my-vllm')).toMatchObject({
      id: 'custom-my-vllm',
      models: 'any',
      baseUrl: null,
    })
  })

  test.each([
    '',
    'custom-',
    'custom-A',
    'custom--',
    'custom-a-',
    `custom-${'a'.repeat(64)}`,
    'OpenAI',
    '__proto__',
    'constructor',
  ])('%j names no provider', id => {
    expect(findProvider(id)).toBeUndefined()
  })

  test('addresses end without a slash, and only a server of the owner goes by plain http', () => {
    for (const { baseUrl, models, sandbox } of PROVIDERS) {
      if (baseUrl === null) continue
      expect(baseUrl.endsWith('/')).toBe(false)
      if (models === 'catalog' && !sandbox) expect(baseUrl).toMatch(/^https:/)
    }
  })
})

/** Source files of a package, without tests. */
function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map(name => join(folder, name))
}

/** Comments may name any provider. A mount is called after the company whose API it serves. */
const PASSED_OVER =
  /\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^.*\b(?:surface|mount|RouteInfo)\b.*$|\bMount = \{\s*name: '\w+'/gm

test("no provider's name stands in code outside providers/", () => {
  const named = PROVIDERS.map(({ id }) => id).filter(id => id !== 'custom')
  const found: string[] = []
  for (const path of [...listSources(join(PACKAGES, 'llm')), ...listSources(join(PACKAGES, 'server'))]) {
    const name = relative(PACKAGES, path).split(sep).join('/')
    if (name.startsWith('llm/providers/') || name.includes('/testing/')) continue
    // Made-up traffic is of some provider. Nothing that serves a request may import it.
    if (name.startsWith('server/demo/')) continue
    const code = readFileSync(path, 'utf8').replace(PASSED_OVER, '')
    for (const id of named) {
      // Every development environment is made with the sandbox, so the server has to know it by name.
      if (id === 'sandbox' && name.startsWith('server/')) continue
      // It stands for every maker, so formats tell its signatures from those of real ones, in one place.
      if (id === 'sandbox' && name === 'llm/formats/shared/reasoning/sandbox-reasoning.ts') continue
      if (new RegExp(`['"\`]${id}(?:/[^'"\`]*)?['"\`]`).test(code)) found.push(`${name}: ${id}`)
    }
  }
  expect(found).toEqual([])
})
