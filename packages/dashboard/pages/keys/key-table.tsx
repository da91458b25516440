import { Link } from '@tanstack/react-router'
import { describeRights, type Key, type KeyState, stateOf } from '../../api/key-calls.ts'
import { toParams } from '../../api/workspace.ts'
import { MenuItem } from '../../controls/menu.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useEnvironment } from '../../session/environment-context.tsx'

export const STATES: Readonly<Record<KeyState, { variant: string; text: string }>> = {
  active: { variant: 'good', text: 'active' },
  rolling: { variant: 'warn', text: 'rolled, still works' },
  expired: { variant: '', text: 'expired' },
  revoked: { variant: 'bad', text: 'revoked' },
}

interface KeyTableProps {
  readonly keys: readonly Key[]
  readonly now: number
  readonly disabledReason: string | undefined
  readonly onDo: (what: KeyAction, key: Key) => void
}

/** The dialogs that the menu of a key opens. */
export type KeyAction = 'change' | 'reveal' | 'roll' | 'revoke'

export function KeyTable({ keys, now, disabledReason, onDo }: KeyTableProps) {
  const current = useEnvironment()
  const { time_zone: timeZone } = current.organization
  return (
    <ScrollableTable label="Keys">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">State</th>
          <th scope="col" className="wide-only">
            Key
          </th>
          <th scope="col" className="wide-only">
            May use
          </th>
          <th scope="col" className="wide-only">
            Last used
          </th>
          <th scope="col" className="wide-only">
            Expires
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map(key => {
          const state = stateOf(key, now)
          const ended = state === 'revoked' || state === 'expired'
          return (
            <tr key={key.id}>
              <td>
                <Link
                  className="name"
                  to="/o/$org/$project/$environment/keys/$keyId"
                  params={{ ...toParams(current), keyId: key.id }}
                >
                  {key.name}
                </Link>{' '}
                {key.kind === 'publishable' && <span className="chip">publishable</span>}
              </td>
              <td>
                <span className={`chip ${STATES[state].variant}`}>{STATES[state].text}</span>
              </td>
              <td className="wide-only">
                <code>{key.prefix_display}</code>
              </td>
              <td className="wide-only muted">{describeRights(key)}</td>
              <td className="wide-only">
                <TimeAgo at={key.last_used_at} timeZone={timeZone} />
              </td>
              <td className="wide-only">
                <TimeAgo at={key.expires_at} timeZone={timeZone} />
              </td>
              <td className="number">
                {!ended && (
                  <KeyMenu
                    of={key}
                    disabledReason={disabledReason}
                    isRolled={state === 'rolling'}
                    onDo={what => onDo(what, key)}
                  />
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </ScrollableTable>
  )
}

interface KeyMenuProps {
  readonly of: Key
  readonly disabledReason: string | undefined
  readonly isRolled: boolean
  readonly onDo: (what: KeyAction) => void
}

function KeyMenu({ of, disabledReason, isRolled, onDo }: KeyMenuProps) {
  return (
    <RowActions name={of.name} disabledReason={disabledReason}>
      {of.kind === 'publishable' && <MenuItem onSelect={() => onDo('reveal')}>Show key</MenuItem>}
      <MenuItem onSelect={() => onDo('change')}>Change…</MenuItem>
      {!isRolled && <MenuItem onSelect={() => onDo('roll')}>Roll…</MenuItem>}
      <MenuItem isDanger onSelect={() => onDo('revoke')}>
        Revoke…
      </MenuItem>
    </RowActions>
  )
}
