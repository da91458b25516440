import { type IdentityProvider, openIdentityProvider } from '../../server/testing/fakes/identity-provider.ts'
import type { TestApp } from '../../server/testing/harness/app.ts'
import { type DeviceApp, openDeviceApp } from '../../server/testing/harness/device-app.ts'

/** The running app, whose project accepts an identity provider and the devices of two authorities made for the test. */
export interface GatewayApp {
  readonly app: TestApp
  readonly devices: DeviceApp
  readonly gatewayUrl: string
  readonly publishableKey: string
  /** Returns an identity token of a user, issued now or that many milliseconds ago. It lives 300 seconds. */
  signIn(user: string, agoMs?: number): Promise<string>
  close(): Promise<void>
}

export async function openGatewayApp(): Promise<GatewayApp> {
  const devices = await openDeviceApp()
  const provider = await openIdentityProvider()
  await trust(provider, devices.app)
  return {
    app: devices.app,
    devices,
    gatewayUrl: devices.app.gatewayUrl,
    publishableKey: devices.publishable.key,
    signIn: (user, agoMs = 0) => provider.sign({ sub: user }, Date.now() - agoMs),
    async close() {
      await provider.close()
      await devices.close()
    },
  }
}

async function trust({ issuer }: IdentityProvider, app: TestApp): Promise<void> {
  const settings = { issuer, audiences: ['app'] }
  const { status, body } = await app.manage('PUT', `/v1/projects/${app.projectId}/federated-auth`, settings)
  if (status !== 200) throw new Error(`no federated auth: ${JSON.stringify(body)}`)
}
