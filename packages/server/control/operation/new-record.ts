import type { Services } from './operation.ts'

/** Returns the id and the times of a record that is created now. */
export function newRecord({ newId, clock }: Pick<Services, 'newId' | 'clock'>) {
  const now = new Date(clock.now())
  return { id: newId(), created_at: now, updated_at: now }
}

/** Returns the columns of a record that belongs to the environment. */
export function ownerColumns(environment: {
  readonly id: string
  readonly org_id: string
  readonly project_id: string
}) {
  return { org_id: environment.org_id, project_id: environment.project_id, environment_id: environment.id }
}
