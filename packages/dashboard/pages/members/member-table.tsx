import { Button } from '../../controls/button.tsx'
import { Menu, MenuItem } from '../../controls/menu.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useOrganization, useWorkspace } from '../../session/place-context.tsx'
import { type Member, nameOf } from './member.ts'

interface MemberTableProps {
  readonly members: readonly Member[]
  readonly objection: string | undefined
  readonly onRole: (member: Member) => void
  readonly onResetLink: (member: Member) => Promise<void>
  readonly onRemove: (member: Member) => void
}

export function MemberTable({ members, objection, onRole, onResetLink, onRemove }: MemberTableProps) {
  const { time_zone: timeZone, role: ownRole } = useOrganization()
  const { user: me } = useWorkspace()
  return (
    <TableFrame label="Members">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col" className="wide">
            E-mail
          </th>
          <th scope="col" className="wide">
            Joined
          </th>
          <th scope="col">
            <span className="only-heard">Actions</span>
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
            <td className="wide muted">{member.user?.email ?? member.invite_email}</td>
            <td className="wide">
              <TimeAgo at={member.accepted_at} timeZone={timeZone} never="not yet" />
            </td>
            <td className="number">
              {objection === undefined ? (
                <Menu
                  align="end"
                  trigger={
                    <Button small look="quiet" aria-label={`Actions for ${nameOf(member)}`}>
                      ⋯
                    </Button>
                  }
                >
                  {member.user !== null && <MenuItem onSelect={() => onRole(member)}>Change role…</MenuItem>}
                  {member.user !== null && ownRole === 'owner' && (
                    <MenuItem onSelect={() => void onResetLink(member)}>Link to reset the password…</MenuItem>
                  )}
                  <MenuItem isDanger onSelect={() => onRemove(member)}>
                    {member.user === null ? 'Withdraw invitation…' : 'Remove…'}
                  </MenuItem>
                </Menu>
              ) : (
                <Button small look="quiet" objection={objection} aria-label={`Actions for ${nameOf(member)}`}>
                  ⋯
                </Button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  )
}
