import { beforeAll, expect, test } from 'vitest'
import { lintFiles, server, typing } from './testing/lint-files.ts'

// A rule on code that cannot fail is a defect: each rule gets a file that breaks it.

const lines = (count, line) =>
  Array.from({ length: count }, (_, index) => line.replace('N', index)).join('\n')

const BREACHES = {
  'text becomes code by eval': [server('http/c.ts'), "export const run = () => eval('1')", 'no-eval'],
  'text becomes code by Function': [
    server('http/d.ts'),
    "export const run = new Function('return 1')",
    'no-new-func',
  ],
  'a default export': [server('http/e.ts'), 'export default 1', 'no-default-export'],
  any: [server('http/f.ts'), 'export const x: any = 1', 'no-explicit-any'],
  'a type imported as a value': [
    server('http/g.ts'),
    "import { A } from './h.ts'\nexport type B = A",
    'consistent-type-imports',
  ],
  'an import of types that loads their module': [
    server('http/m.ts'),
    "import { type A } from './h.ts'\nexport type B = A",
    'no-import-type-side-effects',
  ],
  'a circle of types': [server('http/ring-a.ts'), typing('./ring-b.ts'), 'no-cycle'],
  'a file of 401 lines': [server('http/i.ts'), lines(401, 'export const lineN = 1'), 'max-lines'],
  'a function of 81 lines': [
    server('http/j.ts'),
    `export function f(): void {\n${lines(80, '  f()')}\n}`,
    'max-lines-per-function',
  ],
  'a name that is not kebab-case': [server('http/camelCase.ts'), 'export const x = 1', 'filename-case'],
  'unfinished work': [
    server('http/k.ts'),
    `// ${'TO' + 'DO'}: later\nexport const x = 1`,
    'no-warning-comments',
  ],
  'a test that runs alone': [
    server('http/l.test.ts'),
    "import { test } from 'vitest'\ntest.only('x', () => {})",
    'no-focused-tests',
  ],
}

let broken
beforeAll(() => {
  broken = lintFiles([...Object.values(BREACHES), [server('http/ring-b.ts'), typing('./ring-a.ts')]])
})

test.each(Object.entries(BREACHES))('the linter refuses %s', (_, [file, , rule]) => {
  expect([...(broken.get(file) ?? [])]).toContain(rule)
})
