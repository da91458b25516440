import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const SERVER = path.join(import.meta.dirname, '..')

test('only the command that starts the demo imports it: nothing that serves a request does', () => {
  const importers = fs
    .readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('demo/'))
    .filter(name =>
      /from '(?!\.\/app\/demo\/)[^']*\/demo\/[^']*'/.test(fs.readFileSync(path.join(SERVER, name), 'utf8')),
    )
  expect(importers.length).toBeGreaterThan(0)
  expect(importers.filter(name => !name.startsWith('app/demo'))).toEqual([])
})
