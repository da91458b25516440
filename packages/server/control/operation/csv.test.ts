import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sendCsvFile } from './csv.ts'
import { z } from './zod.ts'

let app: FastifyInstance
beforeEach(() => {
  app = Fastify()
})
afterEach(() => app.close())

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
  app.get('/file', async (_request, reply) => {
    const rest = pages.map(page => page.map(n => ({ n })))
    return await sendCsvFile(reply, 'numbers.list', SHAPE, async () => {
      const rows = rest.shift() ?? []
      return { rows, next: rest.length > 0 ? NEXT : undefined }
    })
  })
  const response = await app.inject('/file')
  expect(response.headers['content-disposition']).toBe('attachment; filename="numbers.csv"')
  expect(response.body).toBe(expected)
})
