import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { type GatewayProcess, GatewayProcesses } from '../testing/gateway-processes.ts'
import { makeMeter } from '../testing/make-meter.ts'

describe.skipIf(redisProgram === undefined)('while the usage of one organization cannot be read', () => {
  const failing = makeMeter('rate', 1, { key: 'failing', subject: { keyId: 'failing' } })
  const other = makeMeter('rate', 10, { key: 'other' })
  let redis: TestRedis
  let processes: GatewayProcesses
  let first: GatewayProcess
  let second: GatewayProcess
  beforeEach(async () => {
    redis = await startTestRedis()
    processes = new GatewayProcesses()
    ;[first, second] = (await processes.open(2, { url: redis.url })) as [GatewayProcess, GatewayProcess]
  })
  afterEach(async () => {
    await processes.close()
    await redis.stop()
  })

  test('its requests are refused: no process counts them alone, although Redis can be reached', async () => {
    const { database } = processes
    let attempts = 0
    database.afterSnapshot = async meters => {
      const isOfFailing = meters.some(({ key }) => key === failing.key)
      // A second read of the same request would succeed.
      if (isOfFailing && attempts++ % 2 === 0) throw new Error('the statement took too long')
    }
    for (const [index, process] of [first, second].entries()) {
      expect(await process.reserve(`failing ${index}`, [failing])).toHaveProperty('unavailable')
      expect((await process.reserve(`other ${index}`, [other])).isAdmitted).toBe(true)
      expect(process.ledger.localAdmissionCount).toBe(0)
      attempts = 0
    }
    database.afterSnapshot = async () => {}
    expect((await first.reserve('a', [failing])).isAdmitted).toBe(true)
    expect(await second.reserve('b', [failing])).toMatchObject({ refusal: { reserved: 1 } })
    expect(await second.reserve('c', [other])).toMatchObject({ statuses: [{ reserved: 3 }] })
  })
})
