import { generateKeyPairSync } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import type { TokenSigner } from '../../core/access/client-token.ts'
import type { SigningKey } from '../../core/access/signing-schedule.ts'
import { SigningKeys } from './signing-keys.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keyAt = (kid: string, activatesAt: number): SigningKey => ({
  kid,
  publicJwk: publicKey.export({ format: 'jwk' }),
  activatesAt,
})
const signerOf = (kid: string): TokenSigner => ({ kid, privateKey })

let now: number
let stored: SigningKey[]
let signer: TokenSigner
/** Called at the end of each read, before its result is returned. */
let whileReading: () => void
let reads: number
let keys: SigningKeys
beforeEach(() => {
  now = 0
  stored = [keyAt('one', 0), keyAt('two', 30 * DAY)]
  signer = signerOf('one')
  whileReading = () => {}
  reads = 0
  const read = async <T>(found: T): Promise<T> => {
    reads++
    whileReading()
    return found
  }
  keys = new SigningKeys({ load: () => read([...stored]), loadSigner: () => read(signer), now: () => now })
})

/** Replaces the stored keys and notifies it, as often as the function is called; the reads that run have the old ones. */
const replaceKeys = (): void => {
  stored = [keyAt('new', 0)]
  signer = signerOf('new')
  keys.forget()
}

test('keys in memory are used without a read until they are forgotten', async () => {
  expect(await keys.find('one')).toMatchObject({ isPublished: true })
  expect(await keys.find('two')).toMatchObject({ isPublished: true })
  expect((await keys.getSigner()).kid).toBe('one')
  expect(await keys.find('one')).toBeDefined()
  expect(reads).toBe(2)
  replaceKeys()
  expect([await keys.find('one'), (await keys.getSigner()).kid]).toEqual([undefined, 'new'])
  expect(await keys.find('new')).toMatchObject({ isPublished: true })
  expect((await keys.listPublic()).map(({ kid }) => kid)).toEqual(['new'])
})

test('keys that are removed while they are read are not used', async () => {
  whileReading = () => {
    whileReading = () => {}
    replaceKeys()
  }
  expect(await keys.find('one')).toBeUndefined()
  expect(await keys.find('new')).toBeDefined()
  stored = [keyAt('one', 0)]
  signer = signerOf('one')
  keys.forget()
  whileReading = () => {
    whileReading = () => {}
    replaceKeys()
  }
  expect((await keys.getSigner()).kid).toBe('new')
})

test('a key is known, but not published, two hours after the next one began to sign', async () => {
  await keys.find('one')
  now = 30 * DAY + 2 * HOUR - 1
  expect(await keys.find('one')).toMatchObject({ isPublished: true })
  now++
  expect(await keys.find('one')).toMatchObject({ isPublished: false })
  expect(reads).toBe(1)
})
