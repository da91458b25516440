import * as android from '../../server/testing/fakes/android-device.ts'
import * as apple from '../../server/testing/fakes/app-attest-device.ts'
import { APP_ID, type DeviceApp, DIGEST, PACKAGE } from '../../server/testing/harness/device-app.ts'
import type { AndroidDevice, IosDevice } from '../from-device.ts'

/** Authorities that the app under test accepts. */
export type Authorities = Pick<DeviceApp, 'apple' | 'google'>

/** An iPhone's native code, which keeps its key in memory. `made` counts the keys. */
export function createIosDevice(authorities: Authorities): IosDevice & { made: number } {
  let stored: { key: apple.AppAttestDevice; counter: number } | undefined
  return {
    made: 0,
    platform: 'ios',
    findKeyId: async () => stored?.key.keyId.toString('base64') ?? null,
    async attest(challenge) {
      this.made++
      stored = { key: apple.createAppAttestDevice(), counter: 0 }
      const object = apple.attestApp(authorities.apple, stored.key, { appId: APP_ID, challenge })
      return { keyId: stored.key.keyId.toString('base64'), attestationObject: object.toString('base64') }
    },
    async assert(_, challenge) {
      if (stored === undefined) return null
      stored.counter++
      const object = apple.assertApp(stored.key, { appId: APP_ID, challenge, counter: stored.counter })
      return { assertion: object.toString('base64') }
    },
  }
}

/** An Android phone's native code, which keeps its key in memory. `made` counts the keys. */
export function createAndroidDevice(authorities: Authorities): AndroidDevice & { made: number } {
  let stored: { key: android.AndroidDevice; counter: number } | undefined
  return {
    made: 0,
    platform: 'android',
    findKeyId: async () => stored?.key.keyId.toString('base64') ?? null,
    async attest(challenge) {
      this.made++
      stored = { key: android.createAndroidDevice(), counter: 0 }
      const parts = { challenge, packageNames: [PACKAGE], signingDigests: [DIGEST] }
      const chain = android.attestKey(authorities.google, stored.key, parts)
      const certificateChain = chain.map(each => each.toString('base64'))
      return { keyId: stored.key.keyId.toString('base64'), certificateChain }
    },
    async assert(_, challenge) {
      if (stored === undefined) return null
      stored.counter++
      const signature = android.assertKey(stored.key, challenge, stored.counter)
      return { assertion: signature.toString('base64'), counter: stored.counter }
    },
  }
}
