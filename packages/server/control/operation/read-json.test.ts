import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runInSlices } from '../../http/fairness/sliced-work.ts'
import { readJson } from './read-json.ts'

const TIMEOUT_MS = 1_000
/** The length of the long work that has turns between two pieces of the body. */
const STEP_MS = 40

test('does not count the turns of others as slowness of a long body', async () => {
  const text = 'a'.repeat(9 * 1024 * 1024)
  let isRead = false
  let steps = 0
  const step = (): boolean => {
    steps++
    const until = performance.now() + STEP_MS
    while (performance.now() < until);
    return isRead
  }
  let over: Promise<void> = Promise.resolve()
  let note: (value: Promise<unknown>) => void = () => {}
  const reading = new Promise<unknown>(resolve => {
    note = resolve
  })
  const server = http.createServer(req => {
    note(readJson(req, TIMEOUT_MS, { anyType: false, long: true, memory: undefined }))
    over = runInSlices({ step }, () => false)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const body = JSON.stringify({ text })
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const req = http.request({ port, method: 'POST', headers })
  req.on('error', () => {})
  onTestFinished(() => {
    req.destroy()
    server.close()
  })
  req.end(body)
  try {
    expect(await reading).toEqual({ text })
    // The body has waited for longer than its timeout.
    expect(steps * STEP_MS).toBeGreaterThan(TIMEOUT_MS)
  } finally {
    isRead = true
    await over
  }
})
