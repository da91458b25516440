import { defineGet } from '../operation/define-get.ts'
import { KeyResource, toKeyResource } from './key-resource.ts'

export const getKey = defineGet('key', '/v1/keys/{keyId}', {
  name: 'keys.get',
  summary: 'One key, without its plaintext.',
  response: KeyResource,
  toResponse: toKeyResource,
})
