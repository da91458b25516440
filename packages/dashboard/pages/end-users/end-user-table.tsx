import { Link } from '@tanstack/react-router'
import { toParams } from '../../api/workspace.ts'
import { MenuItem } from '../../controls/menu.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { toCount } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import type { EndUser } from './end-user-calls.ts'

interface EndUserTableProps {
  readonly endUsers: readonly EndUser[]
  /** The name of the environment's default plan, if it has one. */
  readonly defaultPlan: string | undefined
  readonly disabledReason: string | undefined
  readonly onPlan: (endUser: EndUser) => void
  readonly onBlock: (endUser: EndUser) => void
  readonly onUnblock: (endUser: EndUser) => void
}

export function EndUserTable({
  endUsers,
  defaultPlan,
  disabledReason,
  onPlan,
  onBlock,
  onUnblock,
}: EndUserTableProps) {
  const current = useEnvironment()
  const { time_zone: timeZone } = current.organization
  return (
    <ScrollableTable label="End users">
      <thead>
        <tr>
          <th scope="col">End user</th>
          <th scope="col" className="wide-only">
            Plan
          </th>
          <th scope="col" className="wide-only">
            Last seen
          </th>
          <th scope="col" className="number wide-only">
            Requests
          </th>
          <th scope="col" className="number wide-only">
            Tokens
          </th>
          <th scope="col" className="number">
            Cost to date
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {endUsers.map(endUser => {
          const { id, external_id: name, plan, blocked_at, last_seen_at, usage } = endUser
          return (
            <tr key={id}>
              <td className="text truncate">
                <Link
                  to="/o/$org/$project/$environment/end-users/$endUserId"
                  params={{ ...toParams(current), endUserId: id }}
                  search={{ name }}
                  title={name}
                >
                  <bdi>{name}</bdi>
                </Link>{' '}
                {blocked_at !== null && <span className="chip bad">blocked</span>}
              </td>
              <td className="wide-only">{plan ?? <DefaultPlan name={defaultPlan} />}</td>
              <td className="wide-only">
                <TimeAgo at={last_seen_at} timeZone={timeZone} />
              </td>
              <td className="number wide-only">{toCount(usage.requests)}</td>
              <td className="number wide-only">{toCount(usage.input_tokens + usage.output_tokens)}</td>
              <td className="number">{toMoney(usage.cost_usd)}</td>
              <td className="number">
                <EndUserMenu
                  endUser={endUser}
                  disabledReason={disabledReason}
                  onPlan={onPlan}
                  onBlock={onBlock}
                  onUnblock={onUnblock}
                />
              </td>
            </tr>
          )
        })}
      </tbody>
    </ScrollableTable>
  )
}

function DefaultPlan({ name }: { name: string | undefined }) {
  if (name === undefined) return <span className="muted">–</span>
  return (
    <>
      {name} <span className="muted">(default)</span>
    </>
  )
}

function EndUserMenu({
  endUser,
  disabledReason,
  onPlan,
  onBlock,
  onUnblock,
}: Omit<EndUserTableProps, 'endUsers' | 'defaultPlan'> & { readonly endUser: EndUser }) {
  return (
    <RowActions name={endUser.external_id} disabledReason={disabledReason}>
      <MenuItem onSelect={() => onPlan(endUser)}>Change plan…</MenuItem>
      {endUser.blocked_at === null ? (
        <MenuItem isDanger onSelect={() => onBlock(endUser)}>
          Block…
        </MenuItem>
      ) : (
        <MenuItem onSelect={() => onUnblock(endUser)}>Unblock</MenuItem>
      )}
    </RowActions>
  )
}
