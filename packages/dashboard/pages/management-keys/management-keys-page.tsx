import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, type Resource } from '../../api/client.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { Empty, ListState } from '../../controls/list-state.tsx'
import { OnceDialog } from '../../controls/once-dialog.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useNow } from '../../controls/use-now.ts'
import { useObjection, useOrganization } from '../../session/place-context.tsx'
import { CreateManagementKeyDialog } from './create-management-key-dialog.tsx'

type ManagementKey = Resource<'ManagementKey'>
type Open =
  | { readonly dialog: 'create' }
  | { readonly dialog: 'shown'; readonly name: string; readonly key: string }
  | { readonly dialog: 'revoke'; readonly target: ManagementKey }

export function ManagementKeysPage() {
  const organization = useOrganization()
  const objection = useObjection('owner')
  const client = useQueryClient()
  const now = useNow()
  const [open, setOpen] = useState<Open>()
  const queryKey = ['management-keys', organization.id]
  const keys = useList(queryKey, cursor =>
    answerOf(
      api.GET('/v1/orgs/{orgId}/management-keys', {
        params: {
          path: { orgId: organization.id },
          query: cursor === undefined ? { limit: 100 } : { limit: 100, cursor },
        },
      }),
    ),
  )
  const close = (): void => setOpen(undefined)
  const refresh = (): void => void client.invalidateQueries({ queryKey })
  const createButton = (
    <Button look="primary" objection={objection} onClick={() => setOpen({ dialog: 'create' })}>
      Create management key
    </Button>
  )
  return (
    <>
      <PageHead
        title="Management keys"
        answer="For programs that call this API instead of people: up to admin, never for the gateway."
        actions={createButton}
      />
      <ListState
        what="Management keys"
        query={keys}
        empty={
          <Empty title="No management keys">
            <p>Terraform, a script or a report needs one.</p>
            {createButton}
          </Empty>
        }
      >
        <KeyTable
          keys={keys.items}
          now={now}
          objection={objection}
          onRevoke={target => setOpen({ dialog: 'revoke', target })}
        />
      </ListState>
      {open?.dialog === 'create' && (
        <CreateManagementKeyDialog
          onClose={close}
          onDone={({ name, key }) => {
            refresh()
            setOpen({ dialog: 'shown', name, key })
          }}
        />
      )}
      {open?.dialog === 'shown' && (
        <OnceDialog
          title={`${open.name} is ready`}
          text="This is the only time that the key is shown. Send it as Authorization: Bearer to this address."
          secret={open.key}
          noun="key"
          onClose={close}
        />
      )}
      {open?.dialog === 'revoke' && <RevokeDialog target={open.target} onClose={close} onDone={refresh} />}
    </>
  )
}

interface RevokeDialogProps {
  readonly target: ManagementKey
  readonly onClose: () => void
  readonly onDone: () => void
}

function RevokeDialog({ target, onClose, onDone }: RevokeDialogProps) {
  return (
    <ConfirmDialog
      title={`Revoke ${target.name}`}
      name={target.name}
      action="Revoke key"
      send={() =>
        answerOf(
          api.POST('/v1/management-keys/{keyId}/revoke', {
            params: { path: { keyId: target.id } },
          }),
        )
      }
      onDone={onDone}
      onClose={onClose}
    >
      <p>The next call with it fails, and that cannot be undone.</p>
    </ConfirmDialog>
  )
}

interface KeyTableProps {
  readonly keys: readonly ManagementKey[]
  readonly now: number
  readonly objection: string | undefined
  readonly onRevoke: (key: ManagementKey) => void
}

function KeyTable({ keys, now, objection, onRevoke }: KeyTableProps) {
  const { time_zone: timeZone } = useOrganization()
  return (
    <TableFrame label="Management keys">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col" className="wide">
            Key
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
          const isExpired = key.expires_at !== null && Date.parse(key.expires_at) <= now
          const state = key.revoked_at !== null ? 'revoked' : isExpired ? 'expired' : undefined
          return (
            <tr key={key.id}>
              <td>
                <span className="name">{key.name}</span>{' '}
                {state !== undefined && (
                  <span className={`chip${state === 'revoked' ? ' bad' : ''}`}>{state}</span>
                )}
              </td>
              <td>{key.role}</td>
              <td className="wide">
                <code>{key.prefix_display}</code>
              </td>
              <td className="wide">
                <TimeAgo at={key.last_used_at} timeZone={timeZone} />
              </td>
              <td className="wide">
                <TimeAgo at={key.expires_at} timeZone={timeZone} />
              </td>
              <td className="number">
                {state === undefined && (
                  <Button
                    small
                    look="danger"
                    objection={objection}
                    aria-label={`Revoke ${key.name}`}
                    onClick={() => onRevoke(key)}
                  >
                    Revoke…
                  </Button>
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </TableFrame>
  )
}
