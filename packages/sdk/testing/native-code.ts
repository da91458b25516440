import * as android from '../../server/testing/fakes/android-device.ts'
import * as apple from '../../server/testing/fakes/app-attest-device.ts'
import { APP_ID, type DeviceApp, DIGEST, PACKAGE } from '../../server/testing/harness/device-app.ts'
import type { AndroidDevice, IosDevice } from '../from-device.ts'

/** Authorities that the app under test accepts. */
export type Authorities = Pick<DeviceApp, 'apple' | 'google'>

/** What the fakes of native code have besides. `made` counts the keys. */
interface Fake {
  made: number
  storeKeyId(keyId: string): Promise<void>
}

/** An iPhone's native code, which keeps its keys in memory. */
export function createIosDevice(authorities: Authorities): IosDevice & Fake {
  const keys = new Map<string, { key: apple.AppAttestDevice; counter: number }>()
  let stored: string | null = null
  return {
    made: 0,
    platform: 'ios',
    findKeyId: async () => stored,
    async storeKeyId(keyId) {
      stored = keyId
    },
    async attest(challenge) {
      this.made++
      const key = apple.createAppAttestDevice()
      const keyId = key.keyId.toString('base64')
      keys.set(keyId, { key, counter: 0 })
      const object = apple.attestApp(authorities.apple, key, { appId: APP_ID, challenge })
      return { keyId, attestationObject: object.toString('base64') }
    },
    async assert(keyId, challenge) {
      const found = keys.get(keyId)
      if (found === undefined) return null
      found.counter++
      const object = apple.assertApp(found.key, { appId: APP_ID, challenge, counter: found.counter })
      return { assertion: object.toString('base64') }
    },
  }
}

/** An Android phone's native code, which keeps its keys in memory. */
export function createAndroidDevice(authorities: Authorities): AndroidDevice & Fake {
  const keys = new Map<string, { key: android.AndroidDevice; counter: number }>()
  let stored: string | null = null
  return {
    made: 0,
    platform: 'android',
    findKeyId: async () => stored,
    async storeKeyId(keyId) {
      stored = keyId
    },
    async attest(challenge) {
      this.made++
      const key = android.createAndroidDevice()
      const keyId = key.keyId.toString('base64')
      keys.set(keyId, { key, counter: 0 })
      const parts = { challenge, packageNames: [PACKAGE], signingDigests: [DIGEST] }
      const chain = android.attestKey(authorities.google, key, parts)
      return { keyId, certificateChain: chain.map(each => each.toString('base64')) }
    },
    async assert(keyId, challenge) {
      const found = keys.get(keyId)
      if (found === undefined) return null
      found.counter++
      const signature = android.assertKey(found.key, challenge, found.counter)
      return { assertion: signature.toString('base64'), counter: found.counter }
    },
  }
}
