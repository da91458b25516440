import { removeProject } from '../../storage/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteProject = defineOperation({
  name: 'projects.delete',
  summary: 'Deletes a project and ends every key below it at once.',
  method: 'DELETE',
  path: '/v1/projects/{projectId}',
  access: { role: 'admin', of: 'project' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource }) => {
    await removeProject(services.db, resource.id, new Date(services.clock.now()))
  },
})
