import { defineOperation } from '../operation/operation.ts'
import { KeyResource, toKeyResource } from './key-resource.ts'

export const getKey = defineOperation('GET /v1/keys/{keyId}', {
  name: 'keys.get',
  summary: 'One key, without its plaintext.',
  access: { role: 'viewer', of: 'key' },
  response: { 200: KeyResource },
  handle: async ({ resource }) => toKeyResource(resource),
})
