import { Link } from '@tanstack/react-router'
import { toNames } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { Menu, MenuItem } from '../../controls/menu.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { toCount } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { usePlace } from '../../session/place-context.tsx'
import type { EndUser } from './end-user-calls.ts'

interface EndUserTableProps {
  readonly endUsers: readonly EndUser[]
  readonly objection: string | undefined
  readonly onPlan: (endUser: EndUser) => void
  readonly onBlock: (endUser: EndUser) => void
  readonly onUnblock: (endUser: EndUser) => void
}

export function EndUserTable({ endUsers, objection, onPlan, onBlock, onUnblock }: EndUserTableProps) {
  const place = usePlace()
  const { time_zone: timeZone } = place.organization
  return (
    <TableFrame label="End users">
      <thead>
        <tr>
          <th scope="col">End user</th>
          <th scope="col" className="wide">
            Plan
          </th>
          <th scope="col" className="wide">
            Last seen
          </th>
          <th scope="col" className="number wide">
            Requests
          </th>
          <th scope="col" className="number wide">
            Tokens
          </th>
          <th scope="col" className="number">
            Cost to date
          </th>
          <th scope="col">
            <span className="only-heard">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {endUsers.map(endUser => {
          const { id, external_id: name, plan, blocked_at, last_seen_at, usage } = endUser
          return (
            <tr key={id}>
              <td className="text cut">
                <Link
                  to="/o/$org/$project/$environment/end-users/$endUserId"
                  params={{ ...toNames(place), endUserId: id }}
                  search={{ name }}
                  title={name}
                >
                  <bdi>{name}</bdi>
                </Link>{' '}
                {blocked_at !== null && <span className="chip bad">blocked</span>}
              </td>
              <td className="wide">{plan ?? <span className="muted">default</span>}</td>
              <td className="wide">
                <TimeAgo at={last_seen_at} timeZone={timeZone} />
              </td>
              <td className="number wide">{toCount(usage.requests)}</td>
              <td className="number wide">{toCount(usage.input_tokens + usage.output_tokens)}</td>
              <td className="number">{toMoney(usage.cost_usd)}</td>
              <td className="number">
                <EndUserMenu
                  endUser={endUser}
                  objection={objection}
                  onPlan={onPlan}
                  onBlock={onBlock}
                  onUnblock={onUnblock}
                />
              </td>
            </tr>
          )
        })}
      </tbody>
    </TableFrame>
  )
}

function EndUserMenu({
  endUser,
  objection,
  onPlan,
  onBlock,
  onUnblock,
}: Omit<EndUserTableProps, 'endUsers'> & { readonly endUser: EndUser }) {
  const label = `Actions for ${endUser.external_id}`
  if (objection !== undefined) {
    return (
      <Button small look="quiet" objection={objection} aria-label={label}>
        ⋯
      </Button>
    )
  }
  return (
    <Menu
      align="end"
      trigger={
        <Button small look="quiet" aria-label={label}>
          ⋯
        </Button>
      }
    >
      <MenuItem onSelect={() => onPlan(endUser)}>Change plan…</MenuItem>
      {endUser.blocked_at === null ? (
        <MenuItem isDanger onSelect={() => onBlock(endUser)}>
          Block…
        </MenuItem>
      ) : (
        <MenuItem onSelect={() => onUnblock(endUser)}>Unblock</MenuItem>
      )}
    </Menu>
  )
}
