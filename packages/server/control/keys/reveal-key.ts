import { Fault } from '../../core/fault.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { KeyResource, toKeyResource } from './key-resource.ts'

export const revealKey = defineOperation('POST /v1/keys/{keyId}/reveal', {
  name: 'keys.reveal',
  summary: 'A publishable key with its plaintext. A secret key is shown at its creation only: 409.',
  access: { role: 'developer', of: 'key' },
  response: { 200: KeyResource.extend({ key: z.string() }).meta({ id: 'RevealedKey' }) },
  faults: ['resource_conflict'],
  handle: async ({ services, resource }) => {
    if (resource.publishable_cipher === null) {
      throw new Fault('resource_conflict', 'Only publishable keys can be shown again.')
    }
    const key = services.secretBox.open(resource.publishable_cipher, `keys:${resource.id}`)
    return { ...toKeyResource(resource), key }
  },
})
