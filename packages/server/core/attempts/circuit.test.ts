import { beforeEach, describe, expect, test } from 'vitest'
import { Circuit, MAX_BACKOFF_MS, MIN_CALLS, PROBE_LEASE_MS, WINDOW_MS } from './circuit.ts'

const START = 1_700_000_000_500
let now: number
let circuit: Circuit
beforeEach(() => {
  now = START
  circuit = new Circuit({ orgId: 'o', credentialId: 'c', provider: 'p', model: 'm' }, now)
})

const fail = (source?: string) => circuit.noteFailure(now, source, false)
const succeed = () => circuit.noteSuccess(now, true)
const open = (): void => {
  for (let n = 0; n < MIN_CALLS; n++) fail()
}
/** Starts the due probe and lets it fail. */
const failProbe = () => {
  now = circuit.retryAt
  expect(circuit.admission(now)).toBe('probe')
  circuit.startProbe(now)
  return circuit.noteFailure(now, undefined, true)
}

describe('a closed circuit', () => {
  test('opens at half of at least ten calls in the window', () => {
    for (let n = 1; n < MIN_CALLS; n++)
      expect([fail(), circuit.admission(now)]).toEqual([undefined, 'admitted'])
    expect(fail()).toBe('opened')
    expect([circuit.admission(now), circuit.failureRate, circuit.openedAt]).toEqual(['open', 1, START])
  })

  test('stays closed while fewer than half of the calls fail', () => {
    for (let n = 0; n < 11; n++) succeed()
    for (let n = 0; n < 10; n++) expect(fail()).toBeUndefined()
    expect(fail()).toBe('opened')
    expect(circuit.failureRate).toBe(0.5)
  })

  test('forgets calls that left the window', () => {
    for (let n = 1; n < MIN_CALLS; n++) fail()
    now += WINDOW_MS
    expect(fail()).toBeUndefined()
    for (let n = 2; n < MIN_CALLS; n++) {
      now += 900
      expect(fail()).toBeUndefined()
    }
    expect(fail()).toBe('opened')
  })

  test('counts on when the clock is set back', () => {
    for (let n = 1; n < MIN_CALLS; n++) fail()
    now -= 3_000
    expect(fail()).toBe('opened')
    now -= 3_600_000
    expect(circuit.admission(now)).toBe('probe')
  })

  test('counts doubtful failures of one end user three times at most, of several each, and certain ones always', () => {
    for (let n = 0; n < 100; n++) expect(fail('mallory')).toBeUndefined()
    for (const user of ['ann', 'ben']) {
      for (let n = 0; n < 4; n++) expect(fail(user)).toBeUndefined()
    }
    expect(fail('eve')).toBe('opened')
    circuit = new Circuit({ orgId: 'o', credentialId: 'c', provider: 'p', model: 'm' }, now)
    for (let n = 1; n < MIN_CALLS; n++) expect(fail()).toBeUndefined()
    expect(fail()).toBe('opened')
  })

  test('stays closed while at least as many other end users succeed as may have caused the failures', () => {
    const attack = () => {
      for (const user of ['m1', 'm2', 'm3', 'm4']) {
        for (let n = 0; n < 4; n++) if (fail(user) === 'opened') return 'opened'
      }
      return circuit.admission(now)
    }
    for (const user of ['ann', 'ben', 'cat', 'dan']) {
      fail('m1')
      circuit.noteSuccess(now, true, user)
    }
    expect(attack()).toBe('admitted')
    // Failures that no request can have caused count all the same.
    for (let n = 0; n < 15; n++) fail()
    expect(fail()).toBe('opened')
    circuit = new Circuit({ orgId: 'o', credentialId: 'c', provider: 'p', model: 'm' }, now)
    for (const user of ['ann', 'ben', 'cat']) {
      fail('m1')
      circuit.noteSuccess(now, true, user)
    }
    expect(attack()).toBe('opened')
  })

  test('opens when many end users fail, however many others succeed', () => {
    for (let n = 0; n < 20; n++) {
      fail(`failing${n}`)
      circuit.noteSuccess(now, true, `healthy${n}`)
    }
    expect(circuit.isOpen).toBe(true)
  })

  test('counts an end user again in the next window, which alone never suffices', () => {
    for (let window = 0; window < 50; window++) {
      for (let n = 0; n < 10; n++) expect(fail('mallory')).toBeUndefined()
      now += WINDOW_MS
    }
  })
})

describe('an open circuit', () => {
  beforeEach(open)

  test('admits one probe at a time once its wait is over', () => {
    now = circuit.retryAt - 1
    expect(circuit.admission(now)).toBe('open')
    now++
    expect(circuit.admission(now)).toBe('probe')
    circuit.startProbe(now)
    expect(circuit.admission(now)).toBe('open')
    now += PROBE_LEASE_MS
    expect(circuit.admission(now)).toBe('probe')
  })

  test('closes with a successful probe, and counts from zero', () => {
    now = circuit.retryAt
    circuit.startProbe(now)
    expect(circuit.noteSuccess(now, false)).toBe('closed')
    expect(circuit.admission(now)).toBe('admitted')
    for (let n = 1; n < MIN_CALLS; n++) expect(fail()).toBeUndefined()
  })

  test('waits longer after each failed probe, up to a bound by which a recovered target is used within ten seconds', () => {
    const waits = Array.from({ length: 6 }, () => {
      expect(failProbe()).toBe('reopened')
      return circuit.retryAt - now
    })
    expect(waits).toEqual([2_000, 4_000, 5_000, 5_000, 5_000, 5_000])
    expect(MAX_BACKOFF_MS + PROBE_LEASE_MS).toBeLessThanOrEqual(10_000)
  })

  test('goes on with the longer waits if it opens again right after it closed', () => {
    failProbe()
    now = circuit.retryAt
    circuit.startProbe(now)
    circuit.noteSuccess(now, false)
    open()
    expect(circuit.retryAt - now).toBe(4_000)
    now = circuit.retryAt
    circuit.noteSuccess(now, false)
    now += WINDOW_MS
    open()
    expect(circuit.retryAt - now).toBe(1_000)
  })

  test('ignores calls that began before it opened', () => {
    const { retryAt } = circuit
    expect(succeed()).toBeUndefined()
    expect(fail()).toBeUndefined()
    expect([circuit.admission(now), circuit.retryAt]).toEqual(['open', retryAt])
  })

  test('admits another probe at once after one that showed nothing', () => {
    now = circuit.retryAt
    circuit.startProbe(now)
    circuit.releaseProbe()
    expect(circuit.admission(now)).toBe('probe')
  })
})

test('rests for as long as the provider asked, up to a minute', () => {
  expect(circuit.rest(now, 3_000)).toBe(3_000)
  expect(circuit.admission(now)).toBe('resting')
  now += 3_000
  expect(circuit.admission(now)).toBe('admitted')
  expect(circuit.rest(now, 86_400_000)).toBe(60_000)
  expect(circuit.rest(now, -5)).toBe(0)
})

test('a shorter rest does not end a longer one, and a success of a call that began meanwhile ends both', () => {
  circuit.rest(now, 60_000)
  circuit.rest(now, 3_000)
  now += 3_000
  expect(circuit.admission(now)).toBe('resting')
  succeed()
  expect(circuit.admission(now)).toBe('resting')
  circuit.noteSuccess(now, false)
  expect(circuit.admission(now)).toBe('admitted')
})

test('a rest is of the credential as it was called, not of one that was changed since', () => {
  circuit.rest(now, 60_000, 100)
  expect(circuit.admission(now, 100)).toBe('resting')
  expect(circuit.admission(now, 101)).toBe('admitted')
  circuit.rest(now, 60_000, 101)
  circuit.rest(now, 60_000, 100)
  expect(circuit.admission(now, 101)).toBe('resting')
})

test('takes over the state of another process, bounded by its own waits', () => {
  circuit.openAs(now, { retryInMs: 86_400_000, openForMs: 2_000, failureRate: 0.8 })
  expect([circuit.retryAt - now, circuit.openedAt, circuit.failureRate]).toEqual([
    MAX_BACKOFF_MS,
    now - 2_000,
    0.8,
  ])
  circuit.close(now)
  expect(circuit.admission(now)).toBe('admitted')
})
