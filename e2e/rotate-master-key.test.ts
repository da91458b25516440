import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../packages/server/testing/fakes/scripted-upstream.ts'
import { openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

const ROOT = path.join(import.meta.dirname, '..')
const API_KEY = 'sk-canary-of-the-provider'
const CREDENTIALS = 130

let home: ProgramHome
let program: Program
/** A provider that answers only requests with the right key. */
let provider: ScriptedUpstream
let refused = 0
beforeAll(async () => {
  home = await openProgramHome()
  program = await home.start()
  provider = await openScriptedUpstream()
  provider.script((res, { headers }) => {
    const isRight = headers.authorization === `Bearer ${API_KEY}`
    if (!isRight) refused++
    res.writeHead(isRight ? 200 : 401, { 'content-type': 'application/json' })
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }]
    res.end(JSON.stringify(isRight ? { choices } : {}))
  })
})
afterAll(async () => {
  await program?.stop()
  await provider?.close()
  home.remove()
})

interface Task {
  readonly child: ChildProcess
  readonly output: () => string
  /** Resolves when the output contains this text, or when the process ends. */
  until(text: string): Promise<void>
  readonly ended: Promise<number | null>
}

function rotate(): Task {
  const env = { ...process.env, RIDEAU_DATA_DIR: home.dataDir, LOG_LEVEL: 'info' }
  const child = spawn(process.execPath, ['bin/rideau.mjs', 'rotate-master-key'], { cwd: ROOT, env })
  let output = ''
  const seen: (() => void)[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      output += String(chunk)
      for (const look of seen) look()
    })
  }
  const ended = new Promise<number | null>(resolve => child.once('close', code => resolve(code)))
  return {
    child,
    output: () => output,
    ended,
    until: text =>
      new Promise(resolve => {
        const look = (): void => {
          if (output.includes(text)) resolve()
        }
        seen.push(look)
        look()
        void ended.then(() => resolve())
      }),
  }
}

test('the master key changes while the program runs, even after a kill of the command, and no request fails', async () => {
  const { managementKey, secretKey, developmentId } = await setUp(program)
  const manage = (method: string, route: string, body: unknown): Promise<Response> =>
    fetch(program.controlUrl + route, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const create = (name: string): Promise<Response> =>
    manage('POST', `/v1/environments/${developmentId}/provider-credentials`, {
      provider: 'custom',
      name,
      api_key: API_KEY,
      base_url: provider.baseUrl,
    })
  for (let n = 0; n < CREDENTIALS; n += 10) {
    const made = await Promise.all(Array.from({ length: 10 }, (_, i) => create(`${n + i}`)))
    expect(made.every(({ status }) => status === 201)).toBe(true)
  }
  // A configuration loads only if every secret of it can be decrypted, a secret option too.
  const temporary = await manage('POST', `/v1/environments/${developmentId}/provider-credentials`, {
    provider: 'bedrock',
    name: 'temporary',
    api_key: API_KEY,
    base_url: 'http://127.0.0.1:1/v1',
    options: { region: 'eu-west-1', access_key_id: 'AKIDEXAMPLE', session_token: API_KEY },
  })
  expect(temporary.status).toBe(201)
  const chat = async (): Promise<number> => {
    const body = JSON.stringify({ model: 'custom/any', messages: [{ role: 'user', content: 'hello' }] })
    const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
    return (await fetch(`${program.gatewayUrl}/v1/chat`, { method: 'POST', headers, body })).status
  }
  // A create whose answer, secret included, is repeated under the new key.
  const createOnce = (): Promise<Response> =>
    fetch(`${program.controlUrl}/v1/environments/${developmentId}/keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${managementKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'over the rotation',
      },
      body: JSON.stringify({ kind: 'secret', name: 'once' }),
    })
  const created = await (await createOnce()).text()
  const keyFile = path.join(home.dataDir, 'master.key')
  const oldKey = readFileSync(keyFile, 'utf8')

  let isOver = false
  const statuses = new Map<number, number>()
  const load = (async () => {
    while (!isOver) {
      for (const status of [await chat(), (await create('created during the rotation')).status]) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
  })()

  const first = rotate()
  await first.until('sealed 100 of provider_credentials anew')
  first.child.kill('SIGKILL')
  await first.ended
  expect(await chat()).toBe(200)
  // If the kill came too late the first change is complete, and the second command changes the key again.
  const wasCut = !first.output().includes('everything is sealed')
  if (wasCut) expect(readFileSync(`${keyFile}.former`, 'utf8')).toBe(oldKey)

  const second = rotate()
  expect([await second.ended, second.output()]).toEqual([0, expect.stringContaining('everything is sealed')])
  expect(existsSync(`${keyFile}.former`)).toBe(false)
  expect(readFileSync(keyFile, 'utf8')).not.toBe(oldKey)
  isOver = true
  await load
  expect([...statuses.keys()].sort()).toEqual([200, 201])
  expect(refused).toBe(0)

  // A new process knows only the new key.
  await program.stop()
  program = await home.start()
  for (let n = 0; n < 20; n++) expect(await chat()).toBe(200)
  expect(refused).toBe(0)
  const repeated = await createOnce()
  expect([await repeated.text(), repeated.headers.get('idempotent-replayed')]).toEqual([created, 'true'])
  for (const text of [first.output(), second.output(), program.output()]) {
    expect(text).not.toContain(API_KEY)
    expect(text).not.toContain(oldKey.trim())
  }
}, 120_000)
