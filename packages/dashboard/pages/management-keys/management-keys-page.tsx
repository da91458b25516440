import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { SecretDialog } from '../../controls/secret-dialog.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useNow } from '../../controls/use-now.ts'
import { useDisabledReason, useOrganization } from '../../session/environment-context.tsx'
import { CreateManagementKeyDialog } from './create-management-key-dialog.tsx'

type ManagementKey = Resource<'ManagementKey'>
type Open =
  | { readonly dialog: 'create' }
  | { readonly dialog: 'shown'; readonly name: string; readonly key: string }
  | { readonly dialog: 'revoke'; readonly target: ManagementKey }

export function ManagementKeysPage() {
  const organization = useOrganization()
  const disabledReason = useDisabledReason('owner')
  const client = useQueryClient()
  const now = useNow()
  const [open, setOpen] = useState<Open>()
  const queryKey = ['management-keys', organization.id]
  const keys = useList(queryKey, cursor =>
    unwrap(
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
    <Button variant="primary" disabledReason={disabledReason} onClick={() => setOpen({ dialog: 'create' })}>
      Create management key
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Management keys"
        description="For programs that call this API: with a role up to admin, and without access to the gateway."
        actions={createButton}
      />
      <ListState
        what="Management keys"
        query={keys}
        empty={
          <EmptyState title="No management keys">
            <p>Create one for Terraform, a script or a report.</p>
            {createButton}
          </EmptyState>
        }
      >
        <KeyTable
          keys={keys.items}
          now={now}
          disabledReason={disabledReason}
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
        <SecretDialog
          title={`${open.name} is ready`}
          text="This is the only time the key is shown. Send it to this address as Authorization: Bearer."
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
        unwrap(
          api.POST('/v1/management-keys/{keyId}/revoke', {
            params: { path: { keyId: target.id } },
          }),
        )
      }
      onDone={onDone}
      onClose={onClose}
    >
      <p>The next call with this key fails, and this cannot be undone.</p>
    </ConfirmDialog>
  )
}

interface KeyTableProps {
  readonly keys: readonly ManagementKey[]
  readonly now: number
  readonly disabledReason: string | undefined
  readonly onRevoke: (key: ManagementKey) => void
}

function KeyTable({ keys, now, disabledReason, onRevoke }: KeyTableProps) {
  const { time_zone: timeZone } = useOrganization()
  return (
    <ScrollableTable label="Management keys">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col" className="wide-only">
            Key
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
              <td className="wide-only">
                <code>{key.prefix_display}</code>
              </td>
              <td className="wide-only">
                <TimeAgo at={key.last_used_at} timeZone={timeZone} />
              </td>
              <td className="wide-only">
                <TimeAgo at={key.expires_at} timeZone={timeZone} />
              </td>
              <td className="number">
                {state === undefined && (
                  <Button
                    small
                    variant="danger"
                    disabledReason={disabledReason}
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
    </ScrollableTable>
  )
}
