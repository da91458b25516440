import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'
import { connectToEach, listWorkers } from './worker-connections.ts'

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

test.runIf(process.platform === 'linux')(
  'the signing keys are replaced while the program runs: live tokens end at every worker, and new ones work',
  async () => {
    const { secretKey } = await setUp(program)
    const workers = await connectToEach(program.gatewayUrl, listWorkers(program.pid) as [number, number], 1)
    const mint = async (): Promise<string> => {
      const headers = { authorization: `Bearer ${secretKey}` }
      const body = { end_user: { id: 'alice' }, scopes: ['ai.chat'] }
      return JSON.parse((await workers[0].send('/v1/client-tokens', { headers, body })).text).token
    }
    /** The outcome at each worker. */
    const ask = (token: string): Promise<string[]> =>
      Promise.all(
        workers.map(async worker => {
          const { status, text } = await worker.send('/v1/models', {
            headers: { authorization: `Bearer ${token}` },
          })
          return `${status} ${JSON.parse(text).error?.code ?? ''}`.trim()
        }),
      )
    const token = await mint()
    expect(await ask(token)).toEqual(['200', '200'])

    const env = { ...process.env, RIDEAU_DATA_DIR: home.dataDir, LOG_LEVEL: 'info' }
    const { stdout } = await run(process.execPath, ['bin/rideau.mjs', 'rotate-signing-keys'], {
      cwd: ROOT,
      env,
    })
    expect(stdout).toContain('replaced 2 keys')
    const ended = '401 invalid_key'
    await expect.poll(() => ask(token), { timeout: 5_000 }).toEqual([ended, ended])
    const renewed = await mint()
    expect(await ask(renewed)).toEqual(['200', '200'])
    expect(kidOf(renewed)).not.toBe(kidOf(token))
    for (const worker of workers) worker.close()
  },
  120_000,
)
