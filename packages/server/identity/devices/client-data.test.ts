import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashClientData, toDeviceEndUserId } from './client-data.ts'

test('the client data hash is SHA-256 of the text of the challenge', () => {
  const challenge = 'tHLCQtpqTCLkJQfP9cbpfuTIMU_bASaBREGye_FPGaQ'
  expect(hashClientData(challenge)).toEqual(createHash('sha256').update(challenge, 'utf8').digest())
  expect(hashClientData(challenge).toString('base64')).toBe('dg2mLOsYbJ+nJAqX5Z4F7w4h0svw16fBsuA41su+9WE=')
})

test('the end user of a device depends on the key, the environment and the project, and on nothing else', () => {
  const [salt, key] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const id = toDeviceEndUserId(salt, 'env', key)
  expect(id).toMatch(/^device:[A-Za-z0-9_-]{22}$/)
  expect(toDeviceEndUserId(Buffer.from(salt), 'env', Buffer.from(key))).toBe(id)
  const others = [
    toDeviceEndUserId(Buffer.alloc(32, 3), 'env', key),
    toDeviceEndUserId(salt, 'other', key),
    toDeviceEndUserId(salt, 'env', Buffer.alloc(32, 4)),
  ]
  expect(new Set([id, ...others]).size).toBe(4)
})
