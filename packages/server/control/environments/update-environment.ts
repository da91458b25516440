import { type EnvironmentChange, updateEnvironment as storeEnvironment } from '../../storage/environments.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { EnvironmentResource, environmentSettings, toEnvironmentResource } from './environment-resource.ts'

export const updateEnvironment = defineOperation('PATCH /v1/environments/{envId}', {
  name: 'environments.update',
  summary: "Changes an environment's policy. `allowed_models: null` allows every model.",
  // An environment's policy restricts its developers too, so only administrators change it.
  access: { role: 'admin', of: 'environment' },
  body: z.strictObject(environmentSettings).partial(),
  response: { 200: EnvironmentResource },
  handle: async ({ services, resource, body }) => {
    const change = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    ) as EnvironmentChange
    const now = new Date(services.clock.now())
    return toEnvironmentResource(await storeEnvironment(services.db, resource.id, change, now))
  },
})
