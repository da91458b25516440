import { createHmac, hash } from 'node:crypto'

/** The hash that an App Attest client passes to the system: SHA-256 of the challenge's text as the challenge route returned it. */
export function hashClientData(challenge: string): Buffer {
  return sha256(Buffer.from(challenge, 'utf8'))
}

/**
 * Returns the end user that a device's key stands for: the same for each token of the key, and different in each project, so
 * that projects cannot be compared.
 */
export function toDeviceEndUserId(projectSalt: Buffer, environmentId: string, keyId: Buffer): string {
  const mac = createHmac('sha256', projectSalt).update(environmentId).update('\0').update(keyId).digest()
  return `device:${mac.subarray(0, 16).toString('base64url')}`
}

export function sha256(...parts: readonly Buffer[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer')
}
