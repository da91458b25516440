import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

const ROOT = path.join(import.meta.dirname, '..')
const run = promisify(execFile)

let home: ProgramHome
let program: Program
beforeAll(async () => {
  home = await openProgramHome()
  program = await home.start({ RIDEAU_WORKERS: '2' })
})
afterAll(async () => {
  await program?.stop()
  home.remove()
})

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString()).kid

test('the signing keys are replaced while the program runs: live tokens end at every worker, and new ones work', async () => {
  const { secretKey } = await setUp(program)
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  const mint = async (): Promise<string> => {
    const body = JSON.stringify({ end_user: { id: 'alice' }, scopes: ['ai.chat'] })
    const response = await fetch(`${program.gatewayUrl}/v1/client-tokens`, { method: 'POST', headers, body })
    return ((await response.json()) as { token: string }).token
  }
  /** The outcomes of calls at once, which reach both workers. */
  const ask = async (token: string): Promise<string[]> => {
    const calls = Array.from({ length: 16 }, async () => {
      const of = { headers: { authorization: `Bearer ${token}` } }
      const response = await fetch(`${program.gatewayUrl}/v1/models`, of)
      const { error } = (await response.json()) as { error?: { code: string } }
      return `${response.status} ${error?.code ?? ''}`.trim()
    })
    return [...new Set(await Promise.all(calls))]
  }
  const token = await mint()
  expect(await ask(token)).toEqual(['200'])

  const env = { ...process.env, RIDEAU_DATA_DIR: home.dataDir, LOG_LEVEL: 'info' }
  const { stdout } = await run(process.execPath, ['bin/rideau.mjs', 'rotate-signing-keys'], {
    cwd: ROOT,
    env,
  })
  expect(stdout).toContain('replaced 2 keys')
  await expect.poll(() => ask(token), { timeout: 5_000 }).toEqual(['401 invalid_key'])
  const renewed = await mint()
  expect(await ask(renewed)).toEqual(['200'])
  expect(kidOf(renewed)).not.toBe(kidOf(token))
}, 120_000)
