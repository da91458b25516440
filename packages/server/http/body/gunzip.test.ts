import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { type GunzipTask, startGunzip } from './gunzip.ts'

const MiB = 1024 * 1024
const tooLarge = (): Fault => new Fault('request_too_large', 'over the limit')
const unpack = (packed: Buffer, limit = 32 * MiB): Promise<Buffer> =>
  startGunzip(packed, { limit, tooLarge }).bytes

/** Text like prose, which compresses about four times. */
const words = (bytes: number): Buffer => {
  let state = 1
  let text = ''
  while (text.length < bytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += `${(state >>> 8).toString(36)} the `
  }
  return Buffer.from(text)
}

describe('startGunzip', () => {
  test('returns any bytes, in one gzip member or two', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        async (one, two) => {
          const packed = Buffer.concat([gzipSync(one), gzipSync(two)])
          expect(await unpack(packed)).toEqual(Buffer.concat([one, two]))
        },
      ),
      { numRuns: 100 },
    )
  })

  test('returns many megabytes of text', async () => {
    const text = words(20 * MiB)
    const packed = gzipSync(text)
    expect((await unpack(packed)).equals(text)).toBe(true)
  })

  test('returns a megabyte whatever the ratio', async () => {
    expect(await unpack(gzipSync(Buffer.alloc(MiB, 0x20)))).toHaveLength(MiB)
  })

  test.each([
    ['of one byte', gzipSync(Buffer.alloc(40 * MiB, 0x20))],
    ['of empty objects', gzipSync('{},'.repeat(8 * MiB))],
    ['in members', Buffer.concat(Array(40).fill(gzipSync(Buffer.alloc(MiB, 0x20))))],
    ['behind honest text', Buffer.concat([gzipSync(words(MiB)), gzipSync(Buffer.alloc(400 * MiB, 0x20))])],
  ])('a bomb %s is refused with request_too_large', async (_, packed) => {
    await expect(unpack(packed, 512 * MiB)).rejects.toMatchObject({ code: 'request_too_large' })
  })

  test('rejects a body that unpacks beyond the limit, whatever its ratio', async () => {
    const packed = gzipSync(words(3 * MiB))
    await expect(unpack(packed, 2 * MiB)).rejects.toMatchObject({ message: 'over the limit' })
    await expect(unpack(gzipSync(Buffer.alloc(64 * 1024 + 1)), 64 * 1024)).rejects.toMatchObject({
      message: 'over the limit',
    })
  })

  test.each([
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('{"a":1}')],
    ['cut off', gzipSync(words(5_000)).subarray(0, 500)],
    ['broken inside', Buffer.concat([gzipSync(words(5_000)).subarray(0, 500), Buffer.alloc(500, 7)])],
  ])('what is %s is refused with request_validation_failed', async (_, packed) => {
    await expect(unpack(packed)).rejects.toMatchObject({ code: 'request_validation_failed' })
  })

  test('unpacks all of more bodies than may be unpacked at the same time', async () => {
    const text = words(2 * MiB)
    const packed = gzipSync(text)
    const all = await Promise.all(Array.from({ length: 20 }, () => unpack(packed)))
    for (const bytes of all) expect(bytes.equals(text)).toBe(true)
  })

  test('a body of one organization does not wait for all bodies of another one that came before', async () => {
    const packed = gzipSync(words(2 * MiB))
    const of = (orgId: string): Promise<Buffer> => {
      const owner = { environment: { orgId, id: orgId }, caller: { keyId: orgId }, endUser: undefined }
      return startGunzip(packed, { limit: 32 * MiB, tooLarge, owner }).bytes
    }
    let ended = 0
    const busy = Array.from({ length: 16 }, () => of('busy').then(() => ended++))
    await of('other')
    expect(ended).toBeLessThan(6)
    await Promise.all(busy)
  })

  test('rejects a stopped body with the given fault, and releases its permit to the next', async () => {
    const packed = gzipSync(words(8 * MiB))
    const fault = new Fault('request_canceled', 'gone')
    const sizes = [0, 0]
    let stopped: number | undefined
    const start = (at: number): GunzipTask => {
      const acquire = (bytes: number): undefined => {
        sizes[at] = (sizes[at] as number) + bytes
        // Without a permit it gets little more than a mebibyte.
        if (stopped !== undefined || (sizes[at] as number) < 2 * MiB) return
        stopped = at
        expect(sizes[1 - at]).toBeLessThan(1.5 * MiB)
        queueMicrotask(() => tasks[at]?.stop(fault))
      }
      return startGunzip(packed, { limit: 32 * MiB, tooLarge, memory: { acquire } })
    }
    const tasks = [start(0), start(1)]
    const results = await Promise.allSettled(tasks.map(({ bytes }) => bytes))
    expect(results[stopped ?? 0]).toEqual({ status: 'rejected', reason: fault })
    expect(results[1 - (stopped ?? 0)]).toMatchObject({ status: 'fulfilled' })
  })

  test('rejects stopped bodies of which nothing was unpacked', async () => {
    const packed = gzipSync(words(8 * MiB))
    const stopped = Array.from({ length: 12 }, () => startGunzip(packed, { limit: 32 * MiB, tooLarge }))
    const fault = new Fault('request_canceled', 'gone')
    for (const unpacking of stopped) unpacking.stop(fault)
    const results = await Promise.allSettled(stopped.map(({ bytes }) => bytes))
    for (const result of results) expect(result).toEqual({ status: 'rejected', reason: fault })
  })
})
