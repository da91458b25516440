import { expect, test } from 'vitest'
import { parseFileLimit } from './file-limit.ts'
import { parseConfig } from './settings.ts'

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

test('reads the limit of file descriptors from the text of the kernel', () => {
  const text =
    'Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 524288               files\n'
  expect(parseFileLimit(text)).toBe(1024)
  expect(
    parseFileLimit('Max open files            unlimited            unlimited            files\n'),
  ).toBeUndefined()
})
