import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAndroidDevice } from '../../testing/fakes/android-device.ts'
import { type IdentityProvider, openIdentityProvider } from '../../testing/fakes/identity-provider.ts'
import { openTestApp } from '../../testing/harness/app.ts'
import {
  androidBody,
  type DeviceApp,
  openDeviceApp,
  REJECTED,
  shorten,
} from '../../testing/harness/device-app.ts'

/** A host of scripted answers. The maker's certificate of the test's devices has the serial 5. */
let host: IdentityProvider
let devices: DeviceApp
beforeAll(async () => {
  host = await openIdentityProvider()
})
afterAll(() => host.close())
beforeEach(() => {
  host.asked.length = 0
})

async function open(): Promise<void> {
  devices = await openDeviceApp({ RIDEAU_ANDROID_REVOCATION_LIST: `${host.issuer}/status` })
}

async function attest(): Promise<string> {
  const body = androidBody(devices, createAndroidDevice(), await devices.challenge())
  return shorten(await devices.post('attest', body))
}

test('a phone with a certificate of the list is rejected as any other, also the first after a start', async () => {
  host.answers.set('/status', { body: { entries: { '05': { status: 'REVOKED' } } } })
  await open()
  expect(await attest()).toBe(REJECTED)
  expect(await attest()).toBe(REJECTED)
  expect(host.asked).toEqual(['/status'])
  await devices.close()
})

test('a list that cannot be fetched refuses no device, and is logged', async () => {
  host.answers.set('/status', { body: {}, after: new Promise(() => {}) })
  await open()
  expect(await attest()).toBe('201')
  expect(host.asked).toEqual(['/status'])
  await expect.poll(() => devices.lines.join(''), { timeout: 20_000 }).toMatch(/could not be loaded/)
  expect(await attest()).toBe('201')
  expect(host.asked).toEqual(['/status'])
  await devices.close()
})

test('a start with a file that is no list is refused', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-status-'))
  const file = path.join(folder, 'status.json')
  writeFileSync(file, '{}')
  const start = openTestApp({ RIDEAU_ANDROID_REVOCATION_LIST: file })
  await expect(start).rejects.toThrow(/^RIDEAU_ANDROID_REVOCATION_LIST: must be a URL, a file/)
  rmSync(folder, { recursive: true })
})
