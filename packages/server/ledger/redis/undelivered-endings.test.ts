import { describe, expect, test } from 'vitest'
import { UndeliveredEndings } from './undelivered-endings.ts'

/** A connection during an outage, with what it was asked. */
class FakeConnection {
  run: string | undefined
  readonly abandoned = new Set<string>()
  readonly failures: unknown[] = []

  reportFailure(error: unknown): void {
    this.failures.push(error)
  }

  abandon(run: string): void {
    this.abandoned.add(run)
  }

  isAbandoned(run: string): boolean {
    return this.abandoned.has(run)
  }
}

describe('endings that a server has not confirmed', () => {
  /** Adds endings of run `r` and returns the ids of those that were sent. */
  const add = (endings: UndeliveredEndings, count: number, isReachable = () => true): string[] => {
    const sent: string[] = []
    for (let index = 0; index < count; index++) {
      void endings.send(`e${index}`, 'r', async () => {
        if (!isReachable()) throw new Error('no reply')
        sent.push(`e${index}`)
      })
    }
    return sent
  }

  test('are sent in slices, so that none waits for thousands of others', async () => {
    const endings = new UndeliveredEndings(new FakeConnection())
    let underWay = 0
    let most = 0
    for (let index = 0; index < 1000; index++) {
      void endings.send(`e${index}`, 'r', async () => {
        most = Math.max(most, ++underWay)
        await Promise.resolve()
        underWay--
      })
    }
    expect(most).toBe(0)
    await endings.sendAll('r')
    expect(most).toBe(256)
  })

  test('are sent again from where the server failed', async () => {
    const endings = new UndeliveredEndings(new FakeConnection())
    const sent = add(endings, 1000, () => sent.length !== 600)
    await expect(endings.sendAll('r')).rejects.toThrow('no reply')
    expect(sent).toHaveLength(600)
    sent.push('another attempt')
    await endings.sendAll('r')
    expect(sent.filter(id => id === 'e0')).toHaveLength(1)
    expect(new Set(sent).size).toBe(1001)
  })

  test('are dropped if they belong to another run, whose successor is seeded with them', async () => {
    const endings = new UndeliveredEndings(new FakeConnection())
    const sent = add(endings, 3)
    await endings.sendAll('next')
    await endings.sendAll('r')
    expect(sent).toEqual([])
  })

  test('are all forgotten beyond ten thousand, and their run is abandoned', async () => {
    const connection = new FakeConnection()
    const endings = new UndeliveredEndings(connection)
    const sent = add(endings, 10_000)
    expect([...connection.abandoned]).toEqual([])
    for (const id of ['one', 'another']) void endings.send(id, 'r', async () => sent.push(id))
    expect([...connection.abandoned]).toEqual(['r'])
    await endings.sendAll('r')
    expect(sent).toEqual([])
  })
})
