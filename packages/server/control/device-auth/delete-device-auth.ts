import { removeDeviceAuth } from '../../storage/end-users/device-auth.ts'
import { defineOperation } from '../operation/operation.ts'
import { orNotFound } from '../operation/or-not-found.ts'
import { NO_DEVICE_AUTH, readDeviceAuth } from './read-device-auth.ts'

export const deleteDeviceAuth = defineOperation('DELETE /v1/projects/{projectId}/device-auth', {
  name: 'device_auth.delete',
  summary: "Turns a project's device attestation off.",
  access: { role: 'admin', of: 'project' },
  before: ({ services, resource }) => readDeviceAuth(services, resource.id),
  handle: async ({ services, resource }) => {
    orNotFound(await removeDeviceAuth(services.db, resource.id), NO_DEVICE_AUTH)
  },
})
