import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'

let plane: ControlPlane
let tenant: Tenant
const at = Date.now() - 60_000
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
})
afterAll(() => plane.close())

describe('as text/csv', () => {
  const csv = async (query: string, of = tenant) => {
    const path = `/v1/environments/${of.development.id}/logs?${query}`
    const answer = await plane.call('GET', path, { key: of.keys.viewer, headers: { Accept: 'text/csv' } })
    return { ...answer, lines: answer.text.split('\r\n') }
  }

  test('answers every request that matches as one file, without bodies', async () => {
    const [newest, oldest] = [0, 2].map(ms => requestRecord(tenant.development, plane.newId(), at - ms))
    const refused = requestRecord(tenant.development, plane.newId(), at - 1, { status: 429 })
    await insertRecords(plane.database.pool, [newest, refused, oldest] as RequestRecord[])
    const { headers, lines, text } = await csv('not.status=429')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="logs.csv"')
    expect(lines[0]).toMatch(/^created_at,request_id,status,error_code,endpoint,/)
    const ids = lines.slice(1, -1).map(line => line.split(',')[1])
    expect(ids).toEqual([newest?.request_id, oldest?.request_id])
    expect(lines.at(-1)).toBe('')
    expect(text).not.toContain('secret')
  })

  test('writes no cell that a spreadsheet reads as a formula', async () => {
    const other = await plane.insertTenant('formula')
    const change = { end_user_id: '=1+1', model_requested: '+a,b', metadata: { '=x': '=y' } }
    await insertRecords(plane.database.pool, [requestRecord(other.development, plane.newId(), at, change)])
    const { lines } = await csv('', other)
    expect(lines[1]).toContain(`,'=1+1,`)
    expect(lines[1]).toContain(`,"'+a,b",`)
    expect(lines[1]).toContain(`,"{""=x"":""=y""}`)
  })

  test('reads several pages, each request once', async () => {
    const other = await plane.insertTenant('pages')
    const made = Array.from({ length: 501 }, (_, n) =>
      requestRecord(other.development, plane.newId(), at - Math.floor(n / 3)),
    )
    await insertRecords(plane.database.pool, made)
    const { lines } = await csv('', other)
    const ids = lines.slice(1, -1).map(line => line.split(',')[1] ?? '')
    expect(ids.sort()).toEqual(made.map(record => record.request_id).sort())
  })

  test.each(['limit=10', 'after=00000000-0000-0000-0000-000000000000', 'status=abc'])(
    '400 %s',
    async query => {
      expect((await csv(query)).outcome).toBe(`400 request_validation_failed ${query.split('=', 1)[0]}`)
    },
  )
})
