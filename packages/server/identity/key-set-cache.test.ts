import { afterEach, describe, expect, test, vi } from 'vitest'
import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import { toFederatedConfig } from '../testing/fakes/identity-provider.ts'
import { KeySetCache } from './key-set-cache.ts'
import { FederatedConfigError, type KeySets } from './key-sets.ts'

const MINUTE = 60_000

const ISSUER = { issuer: 'https://issuer.example', jwksUrl: '' }
const toConfig = (change: Partial<FederatedConfig> = {}): FederatedConfig =>
  toFederatedConfig(ISSUER, { jwksUrl: null, algorithms: ['RS256'], ...change })
const CONFIG = toConfig()
const toKeySets = (): KeySets => new Map([['https://issuer.example', { keys: [] }]])

/** A cache with a clock that the test sets, and a provider that answers as the test says. */
function openCache() {
  let now = 1_000_000
  let asked = 0
  let answer: (config: FederatedConfig) => Promise<KeySets> = () => Promise.resolve(toKeySets())
  const cache = new KeySetCache({
    clock: { now: () => now },
    fetch: config => {
      asked += 1
      return answer(config)
    },
  })
  const fail = () => Promise.reject(new FederatedConfigError('issuer', `Failure ${asked}.`))
  return {
    cache,
    asked: () => asked,
    advance: (ms: number) => {
      now += ms
    },
    answerWith: (next: (config: FederatedConfig) => Promise<KeySets>) => {
      answer = next
    },
    fail: () => {
      answer = fail
    },
    recover: () => {
      answer = () => Promise.resolve(toKeySets())
    },
  }
}

describe('key sets', () => {
  test('are kept while another organization uses very many issuers, also while they cannot be fetched', async () => {
    const { cache, asked, fail } = openCache()
    const own = toConfig({ orgId: 'victim' })
    const first = await cache.get(own)
    fail()
    for (let n = 0; n < 600; n++) {
      const other = toConfig({ orgId: 'other', issuers: [`https://issuer-${n}.example`] })
      await cache.get(other).catch(() => undefined)
      await cache.get(toConfig({ orgId: 'other' }))
    }
    expect(await cache.get(own)).toBe(first)
    expect([asked(), cache.size]).toEqual([601, 500])
  })

  test('are fetched once in ten minutes, also by configurations that differ in what tokens must say', async () => {
    const { cache, asked, advance } = openCache()
    const first = await cache.get(CONFIG)
    expect(await cache.get(toConfig({ audiences: ['other'], userIdClaim: 'uid' }))).toBe(first)
    advance(10 * MINUTE - 1)
    expect(await cache.get(CONFIG)).toBe(first)
    expect(asked()).toBe(1)
    advance(1)
    expect(await cache.get(CONFIG)).not.toBe(first)
    expect(asked()).toBe(2)
  })

  test.each<Partial<FederatedConfig>>([
    { issuers: ['https://other.example'] },
    { jwksUrl: 'https://issuer.example/keys' },
    { algorithms: ['ES256'] },
  ])('are not shared with a configuration with %j', async change => {
    const { cache } = openCache()
    expect(await cache.get(toConfig(change))).not.toBe(await cache.get(CONFIG))
  })

  test('are fetched once by concurrent callers, and each of them gets the failure of that fetch', async () => {
    const { cache, asked, fail, advance } = openCache()
    const calls = await Promise.all(Array.from({ length: 200 }, () => cache.get(CONFIG)))
    expect([new Set(calls).size, asked()]).toEqual([1, 1])
    advance(2 * 60 * MINUTE)
    fail()
    const failures = await Promise.allSettled(Array.from({ length: 200 }, () => cache.get(CONFIG)))
    expect(new Set(failures.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(asked()).toBe(2)
  })

  test('are kept for the 500 configurations that were used last', async () => {
    const { cache, asked } = openCache()
    const toNumbered = (number: number) => toConfig({ issuers: [`https://${number}.example`] })
    for (let number = 0; number <= 500; number++) {
      await cache.get(toNumbered(number))
      await cache.get(toNumbered(0))
    }
    expect([cache.size, asked()]).toEqual([500, 501])
    await cache.get(toNumbered(0))
    expect(asked()).toBe(501)
    await cache.get(toNumbered(1))
    expect([cache.size, asked()]).toEqual([500, 502])
  })
})

describe('a provider that fails', () => {
  test('is asked again after 5, 10, 20, 40 and then 60 seconds, and until then its failure is repeated', async () => {
    const { cache, asked, advance, fail, recover } = openCache()
    fail()
    for (const [index, seconds] of [5, 10, 20, 40, 60, 60].entries()) {
      await expect(cache.get(CONFIG)).rejects.toThrow(`Failure ${index + 1}.`)
      advance(seconds * 1000 - 1)
      await expect(cache.get(CONFIG)).rejects.toThrow(`Failure ${index + 1}.`)
      expect(asked()).toBe(index + 1)
      advance(1)
    }
    recover()
    await cache.get(CONFIG)
    advance(10 * MINUTE)
    fail()
    await cache.get(CONFIG)
    advance(5_000)
    await cache.get(CONFIG)
    expect(asked()).toBe(9)
  })

  test('has its last keys used for one more hour, while it is asked again', async () => {
    const { cache, asked, advance, fail } = openCache()
    const first = await cache.get(CONFIG)
    fail()
    advance(70 * MINUTE - 1)
    expect(await cache.get(CONFIG)).toBe(first)
    expect(asked()).toBe(2)
    advance(1)
    await expect(cache.get(CONFIG)).rejects.toThrow(FederatedConfigError)
  })

  test('does not delay callers while the keys are fresh', async () => {
    const { cache, advance, answerWith } = openCache()
    const first = await cache.get(CONFIG)
    let giveUp: (error: Error) => void = () => {}
    answerWith(
      () =>
        new Promise((_, reject) => {
          giveUp = reject
        }),
    )
    advance(31_000)
    const refreshed = cache.refresh(CONFIG, first)
    expect(await cache.get(CONFIG)).toBe(first)
    giveUp(new FederatedConfigError('issuer', 'Timeout.'))
    expect(await refreshed).toBe(first)
  })

  test('by an error of this program passes that error on and is asked at the next call', async () => {
    const { cache, answerWith, recover } = openCache()
    answerWith(() => Promise.reject(new TypeError('bug')))
    await expect(cache.get(CONFIG)).rejects.toThrow(TypeError)
    recover()
    expect(await cache.get(CONFIG)).toEqual(toKeySets())
  })
})

describe('an organization that waits for very many issuers', () => {
  afterEach(() => vi.useRealTimers())

  test('neither delays nor fails the fetch of another one, also of the same issuer', async () => {
    const { cache, asked, answerWith, recover } = openCache()
    answerWith(() => new Promise(() => {}))
    const ofOther = (n: number) => toConfig({ orgId: 'other', issuers: [`https://issuer-${n}.example`] })
    for (let n = 0; n < 100; n++) void cache.get(ofOther(n)).catch(() => undefined)
    void cache.get(toConfig({ orgId: 'other' })).catch(() => undefined)
    await new Promise(resolve => setImmediate(resolve))
    expect(asked()).toBe(32)
    recover()
    expect(await cache.get(toConfig({ orgId: 'victim' }))).toEqual(toKeySets())
  })

  test('gets no keys for those that it does not come to, and other organizations may ask for them at once', async () => {
    vi.useFakeTimers()
    const { cache, answerWith, recover } = openCache()
    answerWith(() => new Promise(() => {}))
    for (let n = 0; n < 32; n++) {
      void cache.get(toConfig({ orgId: 'other', issuers: [`https://issuer-${n}.example`] })).catch(() => {})
    }
    const refused = cache.get(toConfig({ orgId: 'other' })).catch(error => error)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await refused).toBeInstanceOf(FederatedConfigError)
    recover()
    expect(await cache.get(toConfig({ orgId: 'victim' }))).toEqual(toKeySets())
  })
})

describe('an unknown key', () => {
  test('causes at most one fetch in 30 seconds, whatever the number of tokens', async () => {
    const { cache, asked, advance } = openCache()
    const first = await cache.get(CONFIG)
    expect(await cache.refresh(CONFIG, first)).toBe(first)
    advance(30_000)
    const calls = await Promise.all(Array.from({ length: 200 }, () => cache.refresh(CONFIG, first)))
    expect([new Set(calls).size, asked()]).toEqual([1, 2])
    const second = calls[0] ?? first
    expect(second).not.toBe(first)
    expect(await cache.refresh(CONFIG, second)).toBe(second)
    expect(await cache.refresh(CONFIG, first)).toBe(second)
    expect(await cache.get(CONFIG)).toBe(second)
    expect(asked()).toBe(2)
  })

  test('keeps the keys that there are while the provider fails, and waits longer each time', async () => {
    const { cache, asked, advance, fail } = openCache()
    const first = await cache.get(CONFIG)
    fail()
    for (let minute = 1; minute <= 8; minute++) {
      advance(MINUTE)
      expect(await cache.refresh(CONFIG, first)).toBe(first)
      expect(await cache.refresh(CONFIG, first)).toBe(first)
      expect(asked()).toBe(1 + minute)
    }
    expect(await cache.get(CONFIG)).toBe(first)
  })
})
