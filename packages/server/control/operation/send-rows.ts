import type { FastifyReply } from 'fastify'
import type { CsvList } from './csv.ts'
import { mapInSlices } from './map-in-slices.ts'
import { z } from './zod.ts'

const HEAD = '{"data":['

/** Sends a list of thousands of rows as JSON. The rows are checked and written in slices: the route's serializer would do all at once. */
export async function sendRows(
  reply: FastifyReply,
  row: z.ZodObject,
  list: CsvList,
  orgId: string | undefined,
): Promise<FastifyReply> {
  const rows = await mapInSlices(list.data, item => JSON.stringify(z.encode(row, item)), orgId)
  const empty: unknown = reply.serializeInput({ ...list, data: [] }, '200')
  if (typeof empty !== 'string' || !empty.startsWith(HEAD))
    throw new Error('a list does not begin with its rows')
  reply.header('Content-Type', 'application/json; charset=utf-8')
  return reply.send(`${HEAD}${rows.join(',')}${empty.slice(HEAD.length)}`)
}
