import { removeDeviceAuth } from '../../storage/device-auth.ts'
import { defineOperation } from '../operation/operation.ts'
import { orGone } from '../operation/or-gone.ts'
import { z } from '../operation/zod.ts'
import { readDeviceAuth } from './read-device-auth.ts'

export const deleteDeviceAuth = defineOperation({
  name: 'device_auth.delete',
  summary: "Turns a project's device attestation off.",
  method: 'DELETE',
  path: '/v1/projects/{projectId}/device-auth',
  access: { role: 'admin', of: 'project' },
  response: { 204: z.undefined() },
  before: ({ services, resource }) => readDeviceAuth(services, resource.id),
  handle: async ({ services, resource }) => {
    orGone(await removeDeviceAuth(services.db, resource.id))
  },
})
