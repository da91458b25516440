import { decodeBase64 } from '../../identity/devices/encoding/base64.ts'
import { parseP256PrivateKey } from '../../identity/private-key.ts'
import { z } from '../operation/zod.ts'

/** Apple's ids of teams and keys. */
const appleId = z.string().regex(/^[A-Z0-9]{10}$/, 'must have 10 characters of A-Z and 0-9')

const bundleId = z
  .string()
  .max(155, { abort: true })
  .regex(/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/, 'must be a bundle id such as com.example.app')
const packageName = z
  .string()
  .max(255, { abort: true })
  .regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/, 'must be a package name such as com.example.app')

const privateKey = z
  .string()
  .max(4096, { abort: true })
  .refine(
    pem => parseP256PrivateKey(pem) !== undefined,
    "must be DeviceCheck's private key as Apple gives it: PEM of PKCS #8, an EC key on P-256",
  )

const signingDigest = z
  .string()
  .max(128)
  .transform(text => toDigestHex(text.trim()) ?? '')
  .refine(hex => hex !== '', 'must be a SHA-256 in hex or base64')

export const DeviceAuthBody = z
  .strictObject({
    ios: z
      .strictObject({
        team_id: appleId,
        bundle_ids: z.array(bundleId).min(1).max(50),
        environment: z.enum(['production', 'development']),
        device_check: z
          .strictObject({
            key_id: appleId,
            private_key: privateKey.nullish().meta({
              description: 'Required with a new key_id. Absent: the stored key of the same key_id stays.',
            }),
          })
          .nullish(),
      })
      .nullish(),
    android: z
      .strictObject({
        package_names: z.array(packageName).min(1).max(50),
        signing_digests: z
          .array(signingDigest)
          .min(1)
          .max(50)
          .meta({ description: "SHA-256 of the apps' signing certificates." }),
      })
      .nullish(),
  })
  .refine(body => body.ios != null || body.android != null, {
    path: ['ios'],
    error: 'needed where android is absent',
  })
  .meta({ id: 'DeviceAuthSettings' })

/**
 * Returns lower-case hex of a SHA-256 in hex, with or without colons, in base64 or in base64url; undefined for anything
 * else.
 */
function toDigestHex(text: string): string | undefined {
  const hex = text.replaceAll(':', '').toLowerCase()
  if (/^[0-9a-f]{64}$/.test(hex)) return hex
  const bytes = decodeBase64(text, 32)
  return bytes?.length === 32 ? bytes.toString('hex') : undefined
}
