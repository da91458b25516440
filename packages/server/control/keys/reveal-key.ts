import { Fault } from '../../core/fault.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const revealKey = defineOperation('POST /v1/keys/{keyId}/reveal', {
  name: 'keys.reveal',
  summary: 'A publishable key in plaintext. A secret key is shown at its creation only: 409.',
  access: { role: 'developer', of: 'key' },
  response: { 200: z.strictObject({ key: z.string() }).meta({ id: 'RevealedKey' }) },
  faults: ['resource_conflict'],
  handle: async ({ services, resource }) => {
    if (resource.publishable_cipher === null) {
      throw new Fault('resource_conflict', 'Only publishable keys can be shown again.')
    }
    return { key: services.secretBox.open(resource.publishable_cipher, `keys:${resource.id}`) }
  },
})
