import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectShort, type LoopMonitor, openLoopMonitor } from './loop-monitor.ts'
import { addProvider, manage, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

/** Audio has its length measured before it is sent, since what it may cost is reserved. */

const TARGETS = Array.from({ length: 20 }, (_, at) => `custom/m${at}`)
const HEARING = 'gemini/gemini-2.5-flash'
/** What looks like a frame of FLAC twice, with wrong checksums: the most that there is to examine in eight bytes. */
const FRAMES = Buffer.from('fff81001fff81001', 'hex')

let home: ProgramHome
let program: Program
let monitor: LoopMonitor
let upstream: Server
let secretKey: string

beforeAll(async () => {
  home = await openProgramHome()
  monitor = await openLoopMonitor()
  program = await home.start(monitor.env)
  const keys = await setUp(program)
  ;({ secretKey } = keys)
  upstream = createServer((req, res) => {
    req.resume().on('end', () => {
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify(req.url?.includes('gemini') === true ? GENERATED : HEARD))
    })
  })
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  await addProvider(program, keys, 'custom', `http://127.0.0.1:${port}/v1`)
  await addProvider(program, keys, 'gemini', `http://127.0.0.1:${port}/v1`)
  const environment = `/v1/environments/${keys.developmentId}`
  const create = (route: string, body: object): Promise<unknown> =>
    manage(
      { controlUrl: program.controlUrl, managementKey: keys.managementKey },
      'POST',
      environment + route,
      body,
    )
  for (const model of TARGETS)
    await create('/custom-models', { model, capabilities: ['transcription'], context_window: 1_000 })
  const targets = TARGETS.map(model => ({ model }))
  await create('/model-aliases', { alias: 'all', strategy: 'priority', targets })
  for (let at = 0; at < 20; at++) for (const model of ['all', HEARING]) await transcribe(model, toFile(64))
})

afterAll(async () => {
  await program.stop()
  home.remove()
  upstream.closeAllConnections()
  upstream.close()
})

const HEARD = { text: 'hi', usage: { type: 'duration', seconds: 60 } }
const GENERATED = {
  candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 42, candidatesTokenCount: 5, totalTokenCount: 47 },
}

const toFile = (bytes: number, unit = FRAMES): Buffer =>
  Buffer.concat([Buffer.from('OggS'), Buffer.alloc(bytes, unit)])

async function transcribe(model: string, file: Buffer, task = 'transcriptions'): Promise<void> {
  const form = new FormData()
  form.append('model', model)
  form.append('file', new Blob([new Uint8Array(file)]), 'a.ogg')
  const response = await fetch(`${program.gatewayUrl}/openai/v1/audio/${task}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}` },
    body: form,
  })
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('hi')])
}

test.each([
  ['to be written down by one of 20 targets', 'all', 'transcriptions'],
  ['to be translated by one of 20 targets', 'all', 'translations'],
  ['to a model that hears', HEARING, 'transcriptions'],
])('a file of 30 MB holds the event loop shortly: %s', async (_, model, task) => {
  const file = toFile(30_000_000)
  await expectShort(monitor, () => transcribe(model, file, task))
})
