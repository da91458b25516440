import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { GatewayDeps } from '../../gateway/deps.ts'
import { type AndroidDevice, attestKey, createKeyAttestationAuthority } from '../fakes/android-device.ts'
import { createAppAttestAuthority } from '../fakes/app-attest-device.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from './app.ts'

export const TEAM = 'TEAM123456'
export const APP_ID = `${TEAM}.dev.example.app`
export const PACKAGE = 'dev.example.app'
export const DIGEST = 'ab'.repeat(32)
export const REJECTED = '401 invalid_device_attestation'

export interface Outcome {
  readonly status: number
  // biome-ignore lint: JSON of any answer
  readonly body: any
  readonly headers: Headers
}

/** The status of an answer, with the code and the parameter of its error. */
export const shorten = ({ status, body }: Pick<Outcome, 'status' | 'body'>): string =>
  [status, body.error?.code, body.error?.param].filter(part => part != null).join(' ')

/** An app whose project accepts devices of two authorities made for the test. */
export interface DeviceApp {
  readonly app: TestApp
  readonly deps: GatewayDeps
  /** What it logged. */
  readonly lines: readonly string[]
  readonly apple: ReturnType<typeof createAppAttestAuthority>
  readonly google: ReturnType<typeof createKeyAttestationAuthority>
  /** The key of the current caller. */
  publishable: { readonly id: string; readonly key: string }
  /** The number of the current caller's address. */
  address: number
  /** The path of the project's device auth. */
  readonly deviceAuth: string
  /** Sets the project's device auth. */
  configure(): Promise<unknown>
  /** Gives the test a key and an address of its own, so that the mint limits of one test do not concern another. */
  changeCaller(): Promise<void>
  post(route: string, body: unknown, key?: string, headers?: object): Promise<Outcome>
  challenge(key?: string): Promise<string>
  close(): Promise<void>
}

export async function openDeviceApp(env: Record<string, string> = {}): Promise<DeviceApp> {
  const apple = createAppAttestAuthority()
  const google = createKeyAttestationAuthority()
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-roots-'))
  const rootsFile = path.join(folder, 'roots.pem')
  writeFileSync(rootsFile, `${apple.rootPem}\n${google.rootPem}`)
  const lines: string[] = []
  let deps: GatewayDeps | undefined
  const app = await openTestApp(
    {
      RIDEAU_DEVICE_EXTRA_ROOTS: rootsFile,
      RIDEAU_TRUSTED_PROXIES: '127.0.0.1',
      LOG_LEVEL: 'warn',
      ...env,
    },
    { ...TEST_OVERRIDES, onDeps: made => (deps = made) },
    { write: line => void lines.push(line) },
  )
  const deviceAuth = `/v1/projects/${app.projectId}/device-auth`
  const devices: DeviceApp = {
    app,
    deps: deps as unknown as GatewayDeps,
    lines,
    apple,
    google,
    publishable: await app.createKey({ kind: 'publishable' }),
    address: 0,
    deviceAuth,
    configure: () =>
      app.manage('PUT', deviceAuth, {
        ios: { team_id: TEAM, bundle_ids: ['dev.example.app'], environment: 'production' },
        android: { package_names: [PACKAGE], signing_digests: [DIGEST] },
      }),
    async changeCaller() {
      devices.address++
      devices.publishable = await app.createKey({ kind: 'publishable' })
    },
    async post(route, body, key = devices.publishable.key, headers = {}) {
      const from = { 'x-forwarded-for': `203.0.113.${devices.address}`, ...headers }
      const response = await app.call(`/v1/device/${route}`, body, { key, headers: from })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    challenge: async key => (await devices.post('challenge', '', key)).body.challenge,
    async close() {
      await app.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await devices.configure()
  return devices
}

/** The body by which an Android phone attests its key. */
export function androidBody({ google }: DeviceApp, of: AndroidDevice, challenge: string): object {
  const chain = attestKey(google, of, { challenge, packageNames: [PACKAGE], signingDigests: [DIGEST] })
  return {
    platform: 'android',
    key_id: of.keyId.toString('base64'),
    certificate_chain: chain.map(each => each.toString('base64')),
    challenge,
  }
}
