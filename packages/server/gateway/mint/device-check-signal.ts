/**
 * What Apple says about a device that sent a DeviceCheck token with its attestation. A sign for the fight against many
 * accounts on one device and never a gate: no verdict refuses a token.
 */
export interface DeviceCheckSignal {
  /** `unknown` also where the project has no DeviceCheck key, so that Apple cannot be asked. */
  check(token: string, projectId: string): Promise<DeviceCheckVerdict>
}

/** `seen` and `banned` are the two bits that the team keeps at Apple for a device; `ok`: neither is set. */
export type DeviceCheckVerdict = 'ok' | 'seen' | 'banned' | 'unknown'
