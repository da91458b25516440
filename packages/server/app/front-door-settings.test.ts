import { expect, test } from 'vitest'
import { parseFileLimit } from './file-limit.ts'
import { parseConfig } from './settings.ts'

const MIB = 1024 * 1024

test('the front door has bounds by default, derived from the heap and the file descriptors of the process', () => {
  const { frontDoor } = parseConfig({})
  expect(frontDoor).toMatchObject({
    keyRate: { intervalMs: 0.05, fullAfterMs: 5_000 },
    endUserRate: { intervalMs: 20, fullAfterMs: 10_000 },
    addressRate: { intervalMs: 10, fullAfterMs: 5_000 },
    openRequests: 10_000,
    connectionsPerAddress: undefined,
  })
  expect(frontDoor.bodyBytes).toBeGreaterThanOrEqual(256 * 1024 * 1024)
  expect(frontDoor.answerBytes).toBeGreaterThanOrEqual(512 * 1024 * 1024)
  expect(frontDoor.connections).toBeGreaterThanOrEqual(64)
  expect(frontDoor.connections).toBeLessThanOrEqual(20_000)
})

test.each([
  ['RIDEAU_KEY_REQUESTS_PER_SECOND', '0'],
  ['RIDEAU_END_USER_REQUESTS_PER_SECOND', '-1'],
  ['RIDEAU_ADDRESS_REQUESTS_PER_SECOND', 'many'],
  ['RIDEAU_OPEN_REQUESTS', '1.5'],
  ['RIDEAU_BODY_BYTES', '1024'],
  ['RIDEAU_ANSWER_BYTES', '33554432'],
  ['RIDEAU_CONNECTIONS', '0'],
  ['RIDEAU_CONNECTIONS_PER_ADDRESS', '0'],
])('%s=%s stops the start with its name', (name, value) => {
  expect(() => parseConfig({ [name]: value })).toThrow(name)
})

test('the parts of all workers are together what one process may have', () => {
  const settings = {
    RIDEAU_WORKERS: '4',
    RIDEAU_OPEN_REQUESTS: '10',
    RIDEAU_BODY_BYTES: String(1024 * MIB),
    RIDEAU_ANSWER_BYTES: String(2048 * MIB),
    RIDEAU_CONNECTIONS: '1000',
  }
  const { frontDoor, workerFrontDoor } = parseConfig(settings)
  expect(frontDoor).toMatchObject({
    openRequests: 10,
    bodyBytes: 1024 * MIB,
    answerBytes: 2048 * MIB,
    connections: 1000,
  })
  expect(workerFrontDoor).toEqual({
    ...frontDoor,
    openRequests: 3,
    bodyBytes: 256 * MIB,
    answerBytes: 512 * MIB,
    connections: 250,
  })
})

test('the part of a worker has room for the largest body and answer of an end user, unless the whole has none', () => {
  const parts = (bytes: number): unknown[] => {
    const { workerFrontDoor } = parseConfig({
      RIDEAU_WORKERS: '16',
      RIDEAU_BODY_BYTES: String(bytes),
      RIDEAU_ANSWER_BYTES: String(2 * bytes),
    })
    return [workerFrontDoor.bodyBytes, workerFrontDoor.answerBytes]
  }
  expect(parts(256 * MIB)).toEqual([128 * MIB, 256 * MIB])
  expect(parts(64 * MIB)).toEqual([64 * MIB, 128 * MIB])
})

test('reads the limit of file descriptors from the text of the kernel', () => {
  const text =
    'Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 524288               files\n'
  expect(parseFileLimit(text)).toBe(1024)
  expect(
    parseFileLimit('Max open files            unlimited            unlimited            files\n'),
  ).toBeUndefined()
})
