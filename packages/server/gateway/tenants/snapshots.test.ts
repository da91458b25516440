import { describe, expect, test } from 'vitest'
import type { ClientTokenClaims } from '../../core/access/client-token.ts'
import { Fault } from '../../core/fault.ts'
import {
  type EndUser,
  type Environment,
  type Key,
  SCOPES,
  type TokenMinter,
} from '../../core/tenancy/tenancy.ts'
import { type SnapshotName, Snapshots } from './snapshots.ts'

const HASH = 'ab'.repeat(32)
const E = { id: 'e', orgId: 'o' }
const RIGHTS = { scopes: SCOPES, allowedModels: null, allowedEndpoints: null, maxRequestCostNanoUsd: null }

/** A database with one key, whose answers can be delayed. */
function openSource() {
  let revision = 0
  let isAway = false
  let gate: Promise<void> | undefined
  let reads = 0
  return {
    change: () => {
      revision++
    },
    leave: () => {
      isAway = true
    },
    hold: () => {
      let release: () => void = () => {}
      gate = new Promise(resolve => {
        release = resolve
      })
      return () => {
        gate = undefined
        release()
      }
    },
    reads: () => reads,
    source: {
      async findKey(hash: Buffer): Promise<Key | undefined> {
        reads++
        const seen = revision
        if (gate !== undefined) await gate
        if (isAway) throw new Error('the database is away')
        if (hash.toString('hex') !== HASH) return undefined
        return { id: `key at ${seen}`, environmentId: 'e' } as Key
      },
      async findEnvironment(id: string): Promise<Environment | undefined> {
        return { id, orgId: 'o', projectId: 'p' } as Environment
      },
      async findMinter(): Promise<TokenMinter> {
        reads++
        return { originalKeyId: null, rights: RIGHTS, expiresAt: null, revokedAt: null }
      },
      async isSigningKey(kid: string): Promise<boolean> {
        return kid === 'kid'
      },
      async getEndUser(environmentId: string, id: string): Promise<EndUser> {
        reads++
        return { id, plan: `of ${environmentId} at ${revision}`, isBlocked: false }
      },
    },
  }
}

function claims(sub: string): ClientTokenClaims {
  const owner = { org: 'o', prj: 'p', env: 'e', pk: 'k' }
  const times = { iat: 0, nbf: 0, exp: 900 }
  const fixed = { iss: 'i', aud: 'rideau', amr: 'secret_key', ver: 1 } as const
  return { ...fixed, ...owner, ...times, sub, scope: 'ai.chat', plan: null, jti: sub }
}

function open(maxStaleMs = 1000, maxLoadMs?: number) {
  const database = openSource()
  const clock = { now: 0 }
  const loaded: SnapshotName[] = []
  const snapshots = new Snapshots({
    source: database.source,
    onLoaded: name => void loaded.push(name),
    now: () => clock.now,
    maxStaleMs,
    maxTokens: 10,
    ...(maxLoadMs === undefined ? {} : { maxLoadMs }),
  })
  return { database, clock, loaded, snapshots }
}

test('reads a key once and then serves it from memory', async () => {
  const { database, snapshots } = open()
  expect(snapshots.find(HASH)).toBeUndefined()
  expect((await snapshots.load(HASH))?.caller.keyId).toBe('key at 0')
  expect(snapshots.find(HASH)?.caller.keyId).toBe('key at 0')
  expect(database.reads()).toBe(1)
})

test('a thousand concurrent requests share one load of a key', async () => {
  const { database, snapshots } = open()
  await Promise.all(Array.from({ length: 1000 }, () => snapshots.load(HASH)))
  expect(database.reads()).toBe(1)
})

test('queries an unknown key once, and again after a notification or ten seconds', async () => {
  const { database, clock, snapshots } = open()
  const unknown = 'cd'.repeat(32)
  for (let i = 0; i < 5; i++) expect(await snapshots.load(unknown)).toBeUndefined()
  expect(database.reads()).toBe(1)
  snapshots.invalidate('another environment')
  await snapshots.load(unknown)
  expect(database.reads()).toBe(2)
  clock.now += 10_001
  await snapshots.load(unknown)
  expect(database.reads()).toBe(3)
})

test('preloads what another process has loaded for requests, and nothing that does not exist', async () => {
  const one = open()
  const two = open()
  await one.snapshots.load(HASH)
  await one.snapshots.load('cd'.repeat(32))
  await one.snapshots.loadToken('token', claims('alice'), 'kid')
  await one.snapshots.loadEndUser(E, 'bob')
  expect(one.loaded.map(([kind]) => kind)).toEqual(['key', 'token', 'end_user'])
  for (const name of one.loaded) await two.snapshots.preload(JSON.parse(JSON.stringify(name)))
  two.database.leave()
  expect(two.snapshots.find(HASH)?.caller.keyId).toBe('key at 0')
  expect(two.snapshots.find('token')).toMatchObject({ caller: { endUser: { id: 'alice' } } })
  expect(two.snapshots.findEndUser('e', 'bob')?.id).toBe('bob')
  const reads = two.database.reads()
  for (const name of one.loaded) await two.snapshots.preload(name)
  expect(two.database.reads()).toBe(reads)
  // What it did not load for requests it does not report.
  expect(two.loaded).toEqual([])
})

test('end users of an organization that others have loaded push out its own only, before anything else of it is loaded', async () => {
  const { source } = openSource()
  const snapshots = new Snapshots({ source, now: () => 0, maxStaleMs: 1000, maxEndUsers: 8 })
  await snapshots.preload(['end_user', 'honest org', 'honest', 'u'])
  for (let at = 0; at < 100; at++) await snapshots.preload(['end_user', 'greedy', `e${at % 20}`, `u${at}`])
  expect(snapshots.findEndUser('honest', 'u')?.id).toBe('u')
})

test('a token whose signing key is removed while it loads is refused, also where another process has loaded it', async () => {
  const { database, snapshots } = open()
  let isSigningKey = true
  const { findMinter } = database.source
  Object.assign(database.source, {
    isSigningKey: async () => isSigningKey,
    async findMinter() {
      if (isSigningKey) {
        isSigningKey = false
        snapshots.flush()
      }
      return await findMinter()
    },
  })
  expect(await snapshots.loadToken('token', claims('alice'), 'kid')).toBeUndefined()
  await snapshots.preload(['token', 'other token', claims('bob'), 'kid'])
  expect([snapshots.find('token'), snapshots.find('other token')]).toEqual([undefined, undefined])
})

test('a request that starts after a notification gets the new state', async () => {
  const { database, snapshots } = open()
  await snapshots.load(HASH)
  database.change()
  snapshots.invalidate('e')
  expect(snapshots.find(HASH)).toBeUndefined()
  expect((await snapshots.load(HASH))?.caller.keyId).toBe('key at 1')
})

test('repeats a load during which a notification arrived, and does not cache the old state', async () => {
  const { database, snapshots } = open()
  const release = database.hold()
  const early = snapshots.load(HASH)
  database.change()
  snapshots.invalidate('e')
  const late = snapshots.load(HASH)
  release()
  expect((await early)?.caller.keyId).toBe('key at 1')
  expect((await late)?.caller.keyId).toBe('key at 1')
  expect(snapshots.find(HASH)?.caller.keyId).toBe('key at 1')
})

test('returns what a slow load read before a change, but not to a request that starts after the change', async () => {
  const { database, snapshots } = open(1000, 400)
  const release = database.hold()
  const early = snapshots.load(HASH)
  database.change()
  snapshots.invalidate('e')
  const late = snapshots.load(HASH)
  await new Promise(resolve => setTimeout(resolve, 150))
  release()
  expect((await early)?.caller.keyId).toBe('key at 0')
  expect((await late)?.caller.keyId).toBe('key at 1')
  expect(database.reads()).toBe(2)
  expect(snapshots.find(HASH)?.caller.keyId).toBe('key at 1')
})

test('a change of one environment leaves the keys of others cached', async () => {
  const { snapshots } = open()
  await snapshots.load(HASH)
  snapshots.invalidate('another environment')
  expect(snapshots.find(HASH)).toBeDefined()
})

test('changes of other environments neither repeat a load nor keep it from being cached', async () => {
  const { database, snapshots } = open()
  const release = database.hold()
  const loading = snapshots.load(HASH)
  snapshots.invalidate('another environment')
  release()
  expect((await loading)?.caller.keyId).toBe('key at 0')
  expect(snapshots.find(HASH)?.caller.keyId).toBe('key at 0')
  expect(database.reads()).toBe(1)
})

test('a key that is unknown during any change is asked for again', async () => {
  const { database, snapshots } = open()
  const release = database.hold()
  const loading = snapshots.load('cd'.repeat(32))
  snapshots.invalidate('another environment')
  release()
  expect(await loading).toBeUndefined()
  expect(database.reads()).toBe(2)
})

describe('while the database is unreachable', () => {
  test('serves cached tenants for maxStaleMs, then throws config_unavailable', async () => {
    const { clock, snapshots } = open(1000)
    await snapshots.load(HASH)
    snapshots.markLost()
    clock.now += 1000
    expect(snapshots.find(HASH)).toBeDefined()
    clock.now += 1
    expect(snapshots.find(HASH)).toBeUndefined()
    await expect(snapshots.load(HASH)).rejects.toMatchObject({ code: 'config_unavailable', status: 500 })
  })

  test('throws config_unavailable for a key that is not cached, and queries it again next time', async () => {
    const { database, snapshots } = open()
    database.leave()
    const failed = await snapshots.load(HASH).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(Fault)
    expect(failed).toMatchObject({ code: 'config_unavailable' })
    await snapshots.load(HASH).catch(() => {})
    expect(database.reads()).toBe(2)
  })

  test('loads everything again after the connection is restored', async () => {
    const { database, snapshots } = open()
    await snapshots.load(HASH)
    snapshots.markLost()
    database.change()
    snapshots.markRestored()
    expect((await snapshots.load(HASH))?.caller.keyId).toBe('key at 1')
  })
})

test('reads an end user once per environment, and again after a change', async () => {
  const { database, snapshots } = open()
  const first = await snapshots.loadEndUser(E, 'alice')
  expect(first.plan).toBe('of e at 0')
  expect(snapshots.findEndUser('e', 'alice')).toBe(first)
  expect(snapshots.findEndUser('f', 'alice')).toBeUndefined()
  expect((await snapshots.loadEndUser({ id: 'f', orgId: 'o' }, 'alice')).plan).toBe('of f at 0')
  database.change()
  snapshots.invalidate('e')
  expect(snapshots.findEndUser('e', 'alice')).toBeUndefined()
  expect((await snapshots.loadEndUser(E, 'alice')).plan).toBe('of e at 1')
  expect(snapshots.findEndUser('f', 'alice')?.plan).toBe('of f at 0')
})

test('client tokens never evict a key', async () => {
  const { database, snapshots } = open()
  await snapshots.load(HASH)
  for (let n = 0; n < 20; n++) await snapshots.loadToken(`token ${n}`, claims(`user ${n}`), 'kid')
  expect(snapshots.find(HASH)?.caller.keyId).toBe('key at 0')
  expect(snapshots.find('token 0')).toBeUndefined()
  expect(snapshots.find('token 19')?.caller.endUser).toMatchObject({ id: 'user 19', plan: 'of e at 0' })
  database.change()
  snapshots.invalidate('e')
  expect(snapshots.find('token 19')).toBeUndefined()
})

describe('a database that does not answer', () => {
  test('ends a load in config_unavailable, and the next load asks again', async () => {
    const { database, snapshots } = open(1000, 1)
    const release = database.hold()
    await expect(snapshots.load(HASH)).rejects.toMatchObject({ code: 'config_unavailable' })
    await expect(snapshots.load(HASH)).rejects.toMatchObject({ code: 'config_unavailable' })
    expect(database.reads()).toBe(2)
    release()
    expect((await snapshots.load(HASH))?.caller.keyId).toBe('key at 0')
  })

  test('keeps what it returns later', async () => {
    const { database, snapshots } = open(1000, 1)
    const release = database.hold()
    await expect(snapshots.load(HASH)).rejects.toMatchObject({ code: 'config_unavailable' })
    release()
    await new Promise(resolve => setImmediate(resolve))
    expect(snapshots.find(HASH)?.caller.keyId).toBe('key at 0')
  })
})
