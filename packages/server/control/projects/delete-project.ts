import { removeProject } from '../../storage/tenancy/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteProject = defineOperation('DELETE /v1/projects/{projectId}', {
  name: 'projects.delete',
  summary: 'Deletes a project and ends every key below it at once.',
  access: { role: 'admin', of: 'project' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeProject(services.db, resource.id, new Date(services.clock.now())))
  },
})
