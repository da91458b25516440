import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './build.mjs'

const DOCUMENT = 'docs/openapi.json'
let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-openapi-'))
  fs.mkdirSync(path.join(folder, path.dirname(DOCUMENT)))
  fs.copyFileSync(path.join(root, DOCUMENT), path.join(folder, DOCUMENT))
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

// `npm run check` shows each time that it accepts a current document.
test('--check fails a changed and a missing document by name, and repairs neither', () => {
  const document = path.join(folder, DOCUMENT)
  const changed = fs.readFileSync(document, 'utf8').replace('"maximum": 100', '"maximum": 101')
  const check = () => {
    const args = ['tools/build-openapi.mjs', '--check', folder]
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
    expect(stdout.trim()).toBe(
      `${DOCUMENT} is not what the operations make: run node tools/build-openapi.mjs`,
    )
    expect(status).toBe(1)
  }

  fs.writeFileSync(document, changed)
  check()
  expect(fs.readFileSync(document, 'utf8')).toBe(changed)
  fs.rmSync(document)
  check()
  expect(fs.existsSync(document)).toBe(false)
})
