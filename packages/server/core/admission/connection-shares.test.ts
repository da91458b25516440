import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ConnectionShare, ConnectionShares, type ShareOwner } from './connection-shares.ts'

const ORIGIN = 'https://api.example'

interface Party {
  readonly org?: string
  readonly environment?: string
  readonly key?: string
  readonly user?: string
}

function ownerOf({ org = 'o', environment = 'e', key = 'k', user }: Party): ShareOwner {
  return {
    environment: { orgId: org, id: environment },
    // A key is of one environment.
    caller: { keyId: `${org}/${environment}/${key}` },
    endUser: user === undefined ? undefined : { id: user },
  }
}

/** Takes as many as the party gets. */
function takeAll<W>(shares: ConnectionShares<W>, party: Party, origin = ORIGIN): number {
  const share = shares.openShare(ownerOf(party), origin)
  const before = share.used
  while (shares.take(share)) {}
  return share.used - before
}

const takesOne = <W>(shares: ConnectionShares<W>, party: Party, origin = ORIGIN): boolean =>
  shares.take(shares.openShare(ownerOf(party), origin))

describe('one who takes all that it gets', () => {
  test.each([
    [512, 68, 23],
    [4096, 540, 180],
  ])('gets from %i connections %i for a key at one origin, and %i for an end user', (max, ofKey, ofUser) => {
    expect(takeAll(new ConnectionShares(max), {})).toBe(ofKey)
    expect(takeAll(new ConnectionShares(max), { user: 'u' })).toBe(ofUser)
  })

  test.each<[string, number, (at: number) => Party]>([
    ['organizations', 100, at => ({ org: `o${at}` })],
    ['environments of one organization', 60, at => ({ environment: `e${at}` })],
    ['keys of one environment', 45, at => ({ key: `k${at}` })],
    ['end users of one key', 45, at => ({ user: `u${at}` })],
  ])('leaves connections to others, also where %s do so, %i of them', (_what, count, party) => {
    const shares = new ConnectionShares(4096)
    for (let at = 0; at < count; at++) expect(takeAll(shares, party(at))).toBeGreaterThanOrEqual(1)
    for (let at = 0; at < 5; at++) expect(takesOne(shares, party(count + at))).toBe(true)
    expect(takesOne(shares, { org: 'another' })).toBe(true)
  })

  test('leaves connections to its own calls to another origin', () => {
    const shares = new ConnectionShares(4096)
    takeAll(shares, {})
    expect(takeAll(shares, {}, 'https://other.example')).toBeGreaterThan(40)
  })

  test('at a thousand origins, by a hundred end users of ten keys, leaves half to another organization', () => {
    const shares = new ConnectionShares(512)
    for (let at = 0; at < 1000; at++)
      takeAll(shares, { org: 'many', key: `k${at % 10}`, user: `u${at % 100}` }, `https://${at}.example`)
    expect(shares.used).toBeLessThanOrEqual(256)
    expect(takeAll(shares, { org: 'other' })).toBeGreaterThan(40)
  })
})

test('tells a key without an end user, a member without a key and unknown owners apart', () => {
  const shares = new ConnectionShares(512)
  const nobody: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }
  const member: ShareOwner = {
    environment: { orgId: 'o', id: 'e' },
    caller: { keyId: null },
    endUser: undefined,
  }
  const all = [nobody, member, ownerOf({}), ownerOf({ user: ORIGIN })].map(owner =>
    shares.openShare(owner, ORIGIN),
  )
  expect(new Set(all).size).toBe(4)
  expect(shares.openShare(ownerOf({}), ORIGIN)).toBe(all[2])
})

describe('waiters', () => {
  function fill(max: number, holder: Party) {
    const shares = new ConnectionShares<string>(max)
    const share = shares.openShare(ownerOf(holder), ORIGIN)
    while (shares.take(share)) {}
    const wait = (party: Party, ...names: string[]): ConnectionShare<string> => {
      const own = shares.openShare(ownerOf(party), ORIGIN)
      for (const name of names) shares.wait(own, name)
      return own
    }
    return { shares, share, wait }
  }

  test('are served in their order within a share, and in turns between shares', () => {
    const { shares, share, wait } = fill(1, { org: 'holder' })
    wait({ org: 'a' }, 'a1', 'a2', 'a3')
    wait({ org: 'b', user: 'x' }, 'bx1', 'bx2')
    wait({ org: 'b', user: 'y' }, 'by1')
    const served: (string | undefined)[] = []
    const parties: Record<string, Party> = {
      a: { org: 'a' },
      bx: { org: 'b', user: 'x' },
      by: { org: 'b', user: 'y' },
    }
    shares.release(share)
    for (let name = shares.next(); name !== undefined; name = shares.next()) {
      served.push(name)
      expect(shares.next()).toBeUndefined()
      shares.release(shares.openShare(ownerOf(parties[name.slice(0, -1)] as Party), ORIGIN))
    }
    expect(served).toEqual(['a1', 'bx1', 'a2', 'by1', 'a3', 'bx2'])
    expect([shares.used, shares.hasWaiters]).toEqual([0, false])
  })

  test('are served before those that hold their share if they hold nothing', () => {
    const { shares, share, wait } = fill(16, { org: 'heavy' })
    wait({ org: 'heavy' }, 'h1', 'h2', 'h3')
    for (let at = 0; shares.used < 16; at++) takesOne(shares, { org: `o${at}` })
    wait({ org: 'light' }, 'light')
    expect(shares.next()).toBeUndefined()
    shares.release(share)
    expect([shares.next(), shares.next()]).toEqual(['light', undefined])
  })

  test('are not served after they withdrew, and evict() returns each of the others once', () => {
    const { shares, share, wait } = fill(1, {})
    const own = wait({ user: 'u' }, 'one', 'two')
    wait({ org: 'b' }, 'three')
    shares.withdraw(own, 'one')
    shares.withdraw(own, 'one')
    expect([shares.evict(), shares.evict(), shares.evict()].sort()).toEqual(['three', 'two', undefined])
    shares.release(share)
    expect([shares.hasWaiters, shares.next()]).toEqual([false, undefined])
  })
})

test('forgets those that hold nothing, and none of the others', () => {
  const shares = new ConnectionShares<string>(16)
  const kept = shares.openShare(ownerOf({ user: 'kept' }), ORIGIN)
  shares.take(kept)
  const waiting = shares.openShare(ownerOf({ user: 'waiting' }), ORIGIN)
  shares.wait(waiting, 'w')
  const idle = shares.openShare(ownerOf({ user: 'idle' }), ORIGIN)
  for (let at = 0; at < 20_000; at++) shares.openShare(ownerOf({ user: `u${at}` }), ORIGIN)
  expect(shares.openShare(ownerOf({ user: 'kept' }), ORIGIN)).toBe(kept)
  expect(shares.openShare(ownerOf({ user: 'waiting' }), ORIGIN)).toBe(waiting)
  expect(shares.openShare(ownerOf({ user: 'idle' }), ORIGIN)).not.toBe(idle)
})

/** Random calls of a few parties. A call takes a connection or waits; one that holds or waits may end. */
test('any order of lending, returning and withdrawing keeps the counts, the limit and the turns', () => {
  const party = fc.record({
    org: fc.constantFrom('a', 'b', 'c'),
    environment: fc.constantFrom('e', 'f'),
    key: fc.constantFrom('k', 'l'),
    user: fc.constantFrom('u', 'v', 'w'),
  })
  const step = fc.oneof(
    { weight: 3, arbitrary: party.map(each => ({ kind: 'lend' as const, party: each })) },
    { weight: 2, arbitrary: fc.nat().map(at => ({ kind: 'return' as const, at })) },
    { weight: 1, arbitrary: fc.nat().map(at => ({ kind: 'withdraw' as const, at })) },
  )
  interface Call {
    readonly share: ConnectionShare<Call>
    readonly party: string
  }
  const run = (
    max: number,
    steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
  ): void => {
    const shares = new ConnectionShares<Call>(max)
    const held: Call[] = []
    const waiting: Call[] = []
    const serve = (): void => {
      for (let call = shares.next(); call !== undefined; call = shares.next()) {
        // First come, first served among the calls of one party.
        expect(waiting.find(each => each.share === call?.share)).toBe(call)
        waiting.splice(waiting.indexOf(call), 1)
        held.push(call)
      }
    }
    const release = (at: number): void => {
      const [call] = held.splice(at % held.length, 1)
      shares.release((call as Call).share)
      serve()
    }
    for (const each of steps) {
      if (each.kind === 'lend') {
        const call: Call = {
          share: shares.openShare(ownerOf(each.party), ORIGIN),
          party: Object.values(each.party).join('/'),
        }
        const isIdle =
          !held.some(one => one.share === call.share) && !waiting.some(one => one.share === call.share)
        if (shares.take(call.share)) held.push(call)
        else {
          shares.wait(call.share, call)
          waiting.push(call)
        }
        // 36 parties at 4,096 connections: whoever holds nothing gets one at once, whatever the others hold.
        if (isIdle && max === 4096) expect(held.includes(call)).toBe(true)
      } else if (each.kind === 'return' && held.length > 0) release(each.at)
      else if (each.kind === 'withdraw' && waiting.length > 0) {
        const [call] = waiting.splice(each.at % waiting.length, 1)
        shares.withdraw((call as Call).share, call as Call)
      }
      const isCounted = shares.used === held.length && held.length <= max
      // No waiter is left that may have a connection.
      const isServed = shares.hasWaiters === waiting.length > 0 && shares.next() === undefined
      if (!isCounted || !isServed) expect.unreachable(`${shares.used} of ${held.length}`)
    }
    // No waiter waits for ever: every waiter is served once others return what they hold.
    while (held.length > 0) release(0)
    expect([waiting.length, shares.used, shares.hasWaiters]).toEqual([0, 0, false])
  }
  fc.assert(fc.property(fc.constantFrom(1, 3, 16, 40), fc.array(step, { maxLength: 120 }), run), {
    numRuns: 300,
  })
  const greedy = fc.array(fc.tuple(party, fc.integer({ min: 1, max: 800 })), { maxLength: 20 })
  fc.assert(
    fc.property(greedy, bursts => {
      run(
        4096,
        bursts.flatMap(([each, count]) =>
          Array.from({ length: count }, () => ({ kind: 'lend' as const, party: each })),
        ),
      )
    }),
    { numRuns: 5 },
  )
})
