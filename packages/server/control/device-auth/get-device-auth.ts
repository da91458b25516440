import { defineOperation } from '../operation/operation.ts'
import { orNotFound } from '../operation/or-not-found.ts'
import { DeviceAuthResource } from './device-auth-resource.ts'
import { NO_DEVICE_AUTH, readDeviceAuth } from './read-device-auth.ts'

export const getDeviceAuth = defineOperation('GET /v1/projects/{projectId}/device-auth', {
  name: 'device_auth.get',
  summary: "A project's device attestation; 404 if none is set.",
  access: { role: 'viewer', of: 'project' },
  response: { 200: DeviceAuthResource },
  handle: async ({ services, resource }) =>
    orNotFound(await readDeviceAuth(services, resource.id), NO_DEVICE_AUTH),
})
