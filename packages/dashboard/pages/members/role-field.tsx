import type { Role } from '../../api/workspace.ts'
import { SelectField } from '../../controls/field.tsx'
import { useOrganization } from '../../session/environment-context.tsx'

const ROLES: readonly (readonly [Role, string])[] = [
  ['viewer', 'Viewer: reads everything but secrets and bodies'],
  ['developer', 'Developer: also keys, providers, aliases, limits, bodies'],
  ['admin', 'Admin: also projects, budgets, members, webhooks'],
  ['owner', 'Owner: also management keys, owners, deletion'],
]

/** Offers the role of owner only to owners. */
export function RoleField({ defaultRole, problem }: { defaultRole: Role; problem?: string | undefined }) {
  const { role: own } = useOrganization()
  return (
    <SelectField label="Role" name="role" defaultValue={defaultRole} problem={problem}>
      {ROLES.filter(([role]) => role !== 'owner' || own === 'owner').map(([role, text]) => (
        <option key={role} value={role}>
          {text}
        </option>
      ))}
    </SelectField>
  )
}

export function toRole(text: string): Role {
  return ROLES.find(([role]) => role === text)?.[0] ?? 'viewer'
}
