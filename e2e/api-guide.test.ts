import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../packages/server/testing/harness/app.ts'
import { findProgram } from '../packages/server/testing/harness/find-program.ts'

const PAGE = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8')
/** An example is a block of shell with the block of its answer after it. */
const EXAMPLE = /```sh\n([\s\S]*?)```\n(?:```(json|text)\n([\s\S]*?)```)?/g
const ANY = '…'

interface Example {
  readonly section: string
  readonly line: string
  readonly code: string
  readonly kind: string | undefined
  readonly answer: string
}

function listExamples(): Example[] {
  return [...PAGE.matchAll(EXAMPLE)].map(({ index, 1: code = '', 2: kind, 3: answer = '' }) => {
    const headings = [...PAGE.slice(0, index).matchAll(/^## (.+)$/gm)]
    const line = `line ${PAGE.slice(0, index).split('\n').length}`
    return { section: headings.at(-1)?.[1] ?? '', line, code, kind, answer }
  })
}

/** `…` stands for any value, and within a text for any rest of it. */
function toExpected(value: unknown): unknown {
  if (value === ANY) return expect.anything()
  if (Array.isArray(value)) return value.map(toExpected)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toExpected(each)]))
}

const hasPrograms = ['curl', 'jq'].every(name => findProgram([name]) !== undefined)
if (!hasPrograms) console.log('skipped: the examples of docs/api.md need curl and jq')

let app: TestApp
let folder: string

beforeAll(async () => {
  app = await openTestApp()
  folder = mkdtempSync(path.join(tmpdir(), 'rideau-guide-'))
})

afterAll(async () => {
  await app?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(!hasPrograms)('an example of docs/api.md', () => {
  test.each(listExamples())('$section, $line', async ({ code, kind, answer }) => {
    if (kind === undefined) throw new Error('an example has the block of its answer after it')
    const env = { PATH: process.env.PATH, RIDEAU_URL: app.gatewayUrl, RIDEAU_KEY: app.secretKey }
    const { stdout } = await promisify(execFile)('bash', ['-c', code], { cwd: folder, env })
    if (kind === 'json') expect(JSON.parse(stdout)).toMatchObject(toExpected(JSON.parse(answer)) as object)
    else expect(stdout.trimEnd().split('\n')).toEqual(answer.trimEnd().split('\n').map(toLine))
  })
})

function toLine(line: string): unknown {
  return line.endsWith(ANY) ? expect.stringContaining(line.slice(0, -1)) : line
}
