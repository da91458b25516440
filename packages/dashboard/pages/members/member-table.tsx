import { MenuItem } from '../../controls/menu.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useOrganization, useWorkspace } from '../../session/environment-context.tsx'
import { type Member, nameOf } from './member.ts'

interface MemberTableProps {
  readonly members: readonly Member[]
  readonly disabledReason: string | undefined
  readonly onRole: (member: Member) => void
  readonly onResetLink: (member: Member) => Promise<void>
  readonly onRemove: (member: Member) => void
}

export function MemberTable({ members, disabledReason, onRole, onResetLink, onRemove }: MemberTableProps) {
  const { time_zone: timeZone, role: ownRole } = useOrganization()
  const { user: me } = useWorkspace()
  return (
    <ScrollableTable label="Members">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col" className="wide-only">
            E-mail
          </th>
          <th scope="col" className="wide-only">
            Joined
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {members.map(member => (
          <tr key={member.id}>
            <td>
              <span className="name">{nameOf(member)}</span>{' '}
              {member.user?.id === me.id && <span className="chip">you</span>}
              {member.user === null && <span className="chip warn">invited</span>}
            </td>
            <td>{member.role}</td>
            <td className="wide-only muted">{member.user?.email ?? member.invite_email}</td>
            <td className="wide-only">
              <TimeAgo at={member.accepted_at} timeZone={timeZone} never="not yet" />
            </td>
            <td className="number">
              <RowActions name={nameOf(member)} disabledReason={disabledReason}>
                {member.user !== null && <MenuItem onSelect={() => onRole(member)}>Change role…</MenuItem>}
                {member.user !== null && ownRole === 'owner' && (
                  <MenuItem onSelect={() => void onResetLink(member)}>Password reset link…</MenuItem>
                )}
                <MenuItem isDanger onSelect={() => onRemove(member)}>
                  {member.user === null ? 'Withdraw invitation…' : 'Remove…'}
                </MenuItem>
              </RowActions>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}
