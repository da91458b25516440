import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import { type AnswerMemory, ControlAnswers } from './control-answers.ts'
import { sendCsvFile } from './csv.ts'
import { z } from './zod.ts'

let app: FastifyInstance
let answers: ControlAnswers
beforeEach(() => {
  app = Fastify()
  answers = new ControlAnswers({ warn: () => {} })
  app.addHook('onRequest', async (request, reply) => answers.open(request, '127.0.0.1', reply.raw))
})
afterEach(() => app.close())

const memoryOf = (request: FastifyRequest) => answers.find(request) as AnswerMemory

const SHAPE = { row: z.strictObject({ n: z.int() }), most: 3 }
const NEXT = { at: new Date(0), id: '' }
const CUT = 'Cut after 3 rows: there are older ones.\r\n'

test.each([
  [
    'a file with more rows than it may have is cut',
    [
      [1, 2],
      [3, 4],
    ],
    `n\r\n1\r\n2\r\n3\r\n${CUT}`,
  ],
  ['a file is cut between two pages', [[1, 2, 3], [4]], `n\r\n1\r\n2\r\n3\r\n${CUT}`],
  ['a file with as many rows as it may have ends with its last row', [[1, 2], [3]], 'n\r\n1\r\n2\r\n3\r\n'],
  ['a file without rows has a head', [[]], 'n\r\n'],
])('%s', async (_, pages, expected) => {
  app.get('/file', async (request, reply) => {
    const rest = pages.map(page => page.map(n => ({ n })))
    const load = async () => {
      const rows = rest.shift() ?? []
      return { rows, next: rest.length > 0 ? NEXT : undefined }
    }
    return await sendCsvFile(reply, 'numbers.list', {
      shape: SHAPE,
      load,
      memory: memoryOf(request),
      orgId: 'o',
    })
  })
  const response = await app.inject('/file')
  expect(response.headers['content-disposition']).toBe('attachment; filename="numbers.csv"')
  expect(response.body).toBe(expected)
})

test('a page is read when the caller has taken the one before, and a caller that leaves ends the reading', async () => {
  /** More than the kernel takes for a caller that does not read. */
  const pageBytes = 16 * 1024 * 1024
  const shape = { row: z.strictObject({ text: z.string() }), most: 10 }
  let loads = 0
  app.get('/file', async (request, reply) => {
    const load = async () => {
      loads++
      return { rows: [{ text: 'x'.repeat(pageBytes) }], next: loads % 3 > 0 ? NEXT : undefined }
    }
    return await sendCsvFile(reply, 'texts.list', { shape, load, memory: memoryOf(request), orgId: 'o' })
  })
  app.get('/other', async () => 'other')
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async () => {
    const { socket } = await openRaw(url)
    socket.pause()
    socket.write('GET /file HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    return { socket, closed: new Promise(resolve => socket.once('close', resolve)) }
  }
  const reader = await ask()
  await expect.poll(() => answers.held).toBeGreaterThan(pageBytes)
  for (let at = 0; at < 20; at++) expect(await (await fetch(`${url}/other`)).text()).toBe('other')
  expect(loads).toBe(1)
  reader.socket.resume()
  await reader.closed
  expect([loads, reader.socket.bytesRead > 3 * pageBytes]).toEqual([3, true])
  await expect.poll(() => answers.held).toBe(0)
  const leaver = await ask()
  await expect.poll(() => answers.held).toBeGreaterThan(pageBytes)
  leaver.socket.destroy()
  await expect.poll(() => answers.held).toBe(0)
  expect(loads).toBe(4)
})
