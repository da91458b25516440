import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SupervisorChannel } from '../../workers/channel/supervisor-channel.ts'
import type { ServedLedger } from './ledger-session.ts'
import { serveLedger } from './serve-ledger.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('expires leases once in five seconds by the clock of the supervisor, until the service ends', () => {
  const times: number[] = []
  const ledger = { expire: at => times.push(at) } as Pick<ServedLedger, 'expire'> as ServedLedger
  const channel = { setTopic: () => {} } as Pick<SupervisorChannel, 'setTopic'> as SupervisorChannel
  let now = 7
  const end = serveLedger(channel, ledger, { now: () => now++ })
  vi.advanceTimersByTime(10_000)
  expect(times).toEqual([7, 8])
  end()
  vi.advanceTimersByTime(10_000)
  expect(times).toEqual([7, 8])
})
