import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './build.mjs'

const DOCUMENT = 'docs/openapi.json'
const TYPES = 'packages/server/testing/generated/control-api.d.ts'
let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-openapi-'))
  for (const file of [DOCUMENT, TYPES]) {
    fs.mkdirSync(path.join(folder, path.dirname(file)), { recursive: true })
    fs.copyFileSync(path.join(root, file), path.join(folder, file))
  }
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

// `npm run check` shows each time that it accepts a current document.
test('--check fails a changed document and missing types, by name, and repairs neither', () => {
  const document = path.join(folder, DOCUMENT)
  const changed = fs.readFileSync(document, 'utf8').replace('"maximum": 100', '"maximum": 101')
  fs.writeFileSync(document, changed)
  fs.rmSync(path.join(folder, TYPES))

  const args = ['tools/build-openapi.mjs', '--check', folder]
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  const advice = 'is not what the operations make: run node tools/build-openapi.mjs'
  expect(stdout.trim().split('\n')).toEqual([`${DOCUMENT} ${advice}`, `${TYPES} ${advice}`])
  expect(status).toBe(1)
  expect(fs.readFileSync(document, 'utf8')).toBe(changed)
  expect(fs.existsSync(path.join(folder, TYPES))).toBe(false)
})
