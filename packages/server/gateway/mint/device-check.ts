/**
 * What Apple says about a device that sent a DeviceCheck token with its attestation. A sign for the fight against many
 * accounts on one device and never a gate: no verdict refuses a token.
 */
export interface DeviceCheckSignal {
  check(token: string): Promise<DeviceCheckVerdict>
}

export type DeviceCheckVerdict = 'ok' | 'seen' | 'banned' | 'unknown'

/** Asks nobody. */
export const NO_DEVICE_CHECK: DeviceCheckSignal = { check: async () => 'unknown' }
