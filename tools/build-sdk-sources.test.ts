import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './build.mjs'

const FOLDER = 'packages/sdk/generated'

// `npm run check` shows each time that it accepts current files.
test('--check fails a changed and a missing file, by name, and repairs neither', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-sdk-sources-'))
  try {
    fs.cpSync(path.join(root, FOLDER), path.join(folder, FOLDER), { recursive: true })
    const codes = path.join(folder, FOLDER, 'error-codes.ts')
    const changed = fs.readFileSync(codes, 'utf8').replace('quota_exceeded: 429', 'quota_exceeded: 430')
    fs.writeFileSync(codes, changed)
    fs.rmSync(path.join(folder, FOLDER, 'control-operations.ts'))

    const args = ['tools/build-sdk-sources.mjs', '--check', folder]
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
    const advice =
      'is not what the fault table and docs/openapi.json make: run node tools/build-sdk-sources.mjs'
    expect(stdout.trim().split('\n')).toEqual([
      `${FOLDER}/error-codes.ts ${advice}`,
      `${FOLDER}/control-operations.ts ${advice}`,
    ])
    expect(status).toBe(1)
    expect(fs.readFileSync(codes, 'utf8')).toBe(changed)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
