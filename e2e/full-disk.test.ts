import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Keys, openProgramHome, type Program, type ProgramHome, setUp, withOwnDisk } from './program.ts'
import { listWorkers } from './worker-connections.ts'

const [file = '', ...args] = [...withOwnDisk(tmpdir(), 1), 'true']
const canMount = process.platform === 'linux' && spawnSync(file, args).status === 0
if (!canMount) console.log('skipped: a full disk (this user may not mount one)')

/** Enough for the database's cluster and its log of writes. */
const DISK_MIB = 256
const FULL = 'the journal is full or cannot be written: usage records do not reach the database'

describe.runIf(canMount)('a disk that fills up under the program', () => {
  let home: ProgramHome
  let program: Program
  let keys: Keys

  beforeAll(async () => {
    home = await openProgramHome({ diskMiB: DISK_MIB })
    program = await home.start()
    keys = await setUp(program)
  })
  afterAll(async () => {
    await program?.stop()
    home?.remove()
  })

  // The log keeps the message, so that a few hundred records fill what may wait in memory.
  const body = JSON.stringify({
    model: 'sandbox/echo',
    messages: [{ role: 'user', content: 'x'.repeat(8_000) }],
    max_output_tokens: 8,
  })
  const call = async (): Promise<{ status: number; id: string; code: string | undefined }> => {
    const headers = { authorization: `Bearer ${keys.secretKey}`, 'content-type': 'application/json' }
    const answer = await fetch(`${program.gatewayUrl}/v1/chat`, { method: 'POST', headers, body })
    const { error } = (await answer.json()) as { error?: { code: string } }
    return { status: answer.status, id: answer.headers.get('x-request-id') ?? '', code: error?.code }
  }
  const readiness = async () => {
    const answer = await fetch(`${program.gatewayUrl}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }

  /** The request ids of all logged answers, oldest last. */
  async function loggedIds(): Promise<string[]> {
    const ids: string[] = []
    for (let cursor = ''; ; ) {
      const route = `/v1/environments/${keys.developmentId}/logs?status=200&limit=100${cursor}`
      const headers = { authorization: `Bearer ${keys.managementKey}` }
      const answer = await fetch(program.controlUrl + route, { headers })
      const page = (await answer.json()) as { data: { request_id: string }[]; next_cursor: string | null }
      ids.push(...page.data.map(log => log.request_id))
      if (page.next_cursor === null) return ids
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
  }

  test('refuses requests before a record could be lost, and serves and logs every answer once there is space', async () => {
    const answered = new Set<string>()
    const callUntil = async (isDone: (answer: { status: number; code: string | undefined }) => boolean) => {
      for (const end = Date.now() + 120_000; Date.now() < end; ) {
        const answers = await Promise.all(Array.from({ length: 8 }, call))
        for (const { status, id } of answers) if (status === 200) answered.add(id)
        if (answers.some(isDone)) return answers
        expect(answers.every(({ status }) => status === 200 || status === 500)).toBe(true)
      }
      throw new Error('nothing changed within two minutes')
    }
    await callUntil(() => true)

    const workers = listWorkers(program.pid).length
    const filler = `/proc/${program.pid}/root${home.dataDir}/filler`
    fill(filler)
    const answers = await callUntil(({ status }) => status !== 200)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ code }) => code)).toEqual(refused.map(() => 'config_unavailable'))
    // Another worker learns of it a moment later.
    await expect.poll(readiness).toEqual({ status: 503, body: { status: 'not_ready', reasons: [FULL] } })
    // One of each process, and none where the database still had space in files of its own.
    const alarms =
      program.output().match(/usage records could not be written; they wait in the journal/g) ?? []
    expect(alarms.length).toBeLessThanOrEqual(Math.max(1, workers))

    rmSync(filler)
    await callUntil(({ status }) => status === 200)
    await expect.poll(readiness, { timeout: 60_000 }).toMatchObject({ status: 200 })
    await expect
      .poll(async () => (await loggedIds()).sort(), { timeout: 60_000 })
      .toEqual([...answered].sort())
  }, 300_000)
})

/** Writes a file until no byte is free. */
function fill(name: string): void {
  const descriptor = openSync(name, 'w')
  for (const bytes of [1024 * 1024, 4096, 1]) {
    const block = Buffer.alloc(bytes)
    try {
      for (;;) writeSync(descriptor, block)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
  closeSync(descriptor)
}
