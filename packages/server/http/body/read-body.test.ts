import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { Fault } from '../../core/fault.ts'
import { runInSlices } from '../fairness/sliced-work.ts'
import { type BeginningCheck, type BodyReader, readBody } from './read-body.ts'
import { ReceivedRequest } from './received-request.ts'

const MiB = 1024 * 1024
const LIMIT = 32 * MiB

function ownerOf(orgId: string): ShareOwner {
  return { environment: { orgId, id: orgId }, caller: { keyId: orgId }, endUser: undefined }
}

interface SentBody {
  readonly body: Buffer
  readonly reader: BodyReader
}

/** Sends a body to a server, which begins to read it before `begin` resolves. */
async function send(
  size: number,
  begin: (reader: BodyReader) => void = () => {},
  chunkBytes?: number,
  check?: BeginningCheck,
): Promise<SentBody> {
  let note: (reader: BodyReader) => void = () => {}
  const reading = new Promise<BodyReader>(resolve => {
    note = resolve
  })
  const server = http.createServer({ IncomingMessage: ReceivedRequest }, req => {
    const reader = readBody(req, LIMIT, undefined, ownerOf('a'), check)
    note(reader)
    begin(reader)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const headers = chunkBytes === undefined ? { 'content-length': size } : {}
  const req = http.request({ port, method: 'POST', headers })
  req.on('error', () => {})
  onTestFinished(() => {
    req.destroy()
    server.close()
  })
  const body = Buffer.alloc(size, 'of a request ')
  if (chunkBytes === undefined) req.end(body)
  else {
    for (let at = 0; at < size; at += chunkBytes) req.write(body.subarray(at, at + chunkBytes))
    req.end()
  }
  return { body, reader: await reading }
}

test('gives other long work turns while a long body is read, and returns all of its bytes', async () => {
  let turns = 0
  let isRead = false
  let hasGrown = false
  let over: Promise<void> = Promise.resolve()
  let reading: BodyReader | undefined
  const step = (): boolean => {
    turns++
    const before = reading?.progress.pausedMs ?? 0
    const until = performance.now() + 1
    while (performance.now() < until);
    // A pause counts while it lasts.
    if (reading !== undefined && reading.progress.pausedMs > before) hasGrown = true
    return isRead
  }
  const { body, reader } = await send(4 * MiB, started => {
    reading = started
    over = runInSlices({ step }, () => false, ownerOf('b'))
  })
  const bytes = await reader.bytes
  isRead = true
  await over
  expect(bytes.equals(body)).toBe(true)
  // A turn for each 128 KiB or chunk above it, after the first 256 KiB.
  expect(turns).toBeGreaterThan(20)
  expect(reader.progress.received).toBe(body.length)
  expect(hasGrown).toBe(true)
})

test('reads a body of up to 256 KiB without waiting for turns', async () => {
  const { body, reader } = await send(256 * 1024)
  expect((await reader.bytes).equals(body)).toBe(true)
  expect(reader.progress.pausedMs).toBe(0)
})

test('a body in short chunks waits for turns as if each were a KiB', async () => {
  let turns = 0
  let isRead = false
  let over: Promise<void> = Promise.resolve()
  const step = (): boolean => {
    turns++
    const until = performance.now() + 1
    while (performance.now() < until);
    return isRead
  }
  const start = (): void => {
    over = runInSlices({ step }, () => false, ownerOf('b'))
  }
  const { body, reader } = await send(60_000, start, 1)
  const bytes = await reader.bytes
  isRead = true
  await over
  expect(bytes.equals(body)).toBe(true)
  // A turn for each read of the socket, which brings 10,900 chunks.
  expect(turns).toBeGreaterThan(4)
  expect(reader.progress.pausedMs).toBeGreaterThan(0)
})

test('a body that is given up while it waits for a turn is not read on', async () => {
  let isBusy = true
  const { reader } = await send(
    4 * MiB,
    () => void runInSlices({ step: () => !isBusy }, () => false, ownerOf('b')),
  )
  const fault = new Fault('request_timeout', 'Too slow.')
  reader.fail(fault)
  await expect(reader.bytes).rejects.toBe(fault)
  const { received } = reader.progress
  isBusy = false
  // Turns of later work come after the one that the body waited for.
  for (let more = 0; more < 10; more++) await runInSlices({ step: () => true }, () => false, ownerOf('a'))
  expect(reader.progress.received).toBe(received)
})

test('checks the beginning of a long body once, and reads the rest only if it may', async () => {
  const checked: Buffer[] = []
  const allow = async (beginning: Buffer): Promise<void> => void checked.push(beginning)
  const allowed = await send(8 * MiB, undefined, undefined, allow)
  expect((await allowed.reader.bytes).equals(allowed.body)).toBe(true)
  expect(checked).toHaveLength(1)
  const [beginning = Buffer.alloc(0)] = checked
  expect(beginning.length).toBeGreaterThanOrEqual(512 * 1024)
  expect(beginning.equals(allowed.body.subarray(0, beginning.length))).toBe(true)
  const refuse = (): Promise<void> => Promise.reject(new Fault('request_too_large', 'refused'))
  const refused = await send(8 * MiB, undefined, undefined, refuse)
  await expect(refused.reader.bytes).rejects.toThrow('refused')
  expect(refused.reader.progress.received).toBeLessThan(2 * MiB)
  // It may still be too long, which comes first.
  const invalid = (): Promise<void> => Promise.reject(new Fault('request_validation_failed', 'refused'))
  expect((await (await send(8 * MiB, undefined, 65_536, invalid)).reader.bytes).length).toBe(8 * MiB)
  await expect((await send(8 * MiB, undefined, 65_536, refuse)).reader.bytes).rejects.toThrow('refused')
  const short = await send(400 * 1024, undefined, undefined, refuse)
  expect((await short.reader.bytes).length).toBe(400 * 1024)
})
