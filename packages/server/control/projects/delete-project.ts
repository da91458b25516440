import { removeProject } from '../../storage/tenancy/projects.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteProject = defineOperation('DELETE /v1/projects/{projectId}', {
  name: 'projects.delete',
  summary: 'Deletes a project and ends every key below it at once.',
  access: { role: 'admin', of: 'project' },
  handle: ({ services, resource }) => removeProject(services.db, resource.id, new Date(services.clock.now())),
})
