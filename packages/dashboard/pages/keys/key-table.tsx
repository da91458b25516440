import { Link } from '@tanstack/react-router'
import { describeRights, type Key, type KeyState, stateOf } from '../../api/key-calls.ts'
import { toNames } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { Menu, MenuItem } from '../../controls/menu.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { usePlace } from '../../session/place-context.tsx'

export const STATES: Readonly<Record<KeyState, { look: string; text: string }>> = {
  active: { look: 'good', text: 'active' },
  rolling: { look: 'warn', text: 'rolled, still works' },
  expired: { look: '', text: 'expired' },
  revoked: { look: 'bad', text: 'revoked' },
}

interface KeyTableProps {
  readonly keys: readonly Key[]
  readonly now: number
  readonly objection: string | undefined
  readonly onDo: (what: KeyAction, key: Key) => void
}

/** What the menu of a key opens. */
export type KeyAction = 'change' | 'reveal' | 'roll' | 'revoke'

export function KeyTable({ keys, now, objection, onDo }: KeyTableProps) {
  const place = usePlace()
  const { time_zone: timeZone } = place.organization
  return (
    <TableFrame label="Keys">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">State</th>
          <th scope="col" className="wide">
            Key
          </th>
          <th scope="col" className="wide">
            May use
          </th>
          <th scope="col" className="wide">
            Last used
          </th>
          <th scope="col" className="wide">
            Expires
          </th>
          <th scope="col">
            <span className="only-heard">Actions</span>
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
                  params={{ ...toNames(place), keyId: key.id }}
                >
                  {key.name}
                </Link>{' '}
                {key.kind === 'publishable' && <span className="chip">publishable</span>}
              </td>
              <td>
                <span className={`chip ${STATES[state].look}`}>{STATES[state].text}</span>
              </td>
              <td className="wide">
                <code>{key.prefix_display}</code>
              </td>
              <td className="wide muted">{describeRights(key)}</td>
              <td className="wide">
                <TimeAgo at={key.last_used_at} timeZone={timeZone} />
              </td>
              <td className="wide">
                <TimeAgo at={key.expires_at} timeZone={timeZone} />
              </td>
              <td className="number">
                {!ended && (
                  <KeyMenu
                    of={key}
                    objection={objection}
                    isRolled={state === 'rolling'}
                    onDo={what => onDo(what, key)}
                  />
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </TableFrame>
  )
}

interface KeyMenuProps {
  readonly of: Key
  readonly objection: string | undefined
  readonly isRolled: boolean
  readonly onDo: (what: KeyAction) => void
}

function KeyMenu({ of, objection, isRolled, onDo }: KeyMenuProps) {
  const label = `Actions for ${of.name}`
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
      {of.kind === 'publishable' && <MenuItem onSelect={() => onDo('reveal')}>Show key</MenuItem>}
      <MenuItem onSelect={() => onDo('change')}>Change…</MenuItem>
      {!isRolled && <MenuItem onSelect={() => onDo('roll')}>Roll…</MenuItem>}
      <MenuItem isDanger onSelect={() => onDo('revoke')}>
        Revoke…
      </MenuItem>
    </Menu>
  )
}
