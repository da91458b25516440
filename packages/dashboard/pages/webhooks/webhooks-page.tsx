import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { findById, useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { MenuItem } from '../../controls/menu.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { SecretDialog } from '../../controls/secret-dialog.tsx'
import { useDisabledReason, useOrganization } from '../../session/environment-context.tsx'
import { DeliveriesDialog } from './deliveries-dialog.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'

type Webhook = Resource<'Webhook'>
type Open =
  | { readonly dialog: 'create' }
  | { readonly dialog: 'shown'; readonly secret: string }
  | { readonly dialog: 'change' | 'remove' | 'deliveries'; readonly webhook: Webhook }

export function WebhooksPage() {
  const organization = useOrganization()
  const disabledReason = useDisabledReason('admin')
  const client = useQueryClient()
  const [open, setOpen] = useState<Open>()
  const queryKey = ['webhooks', organization.id]
  const list = (cursor: string | undefined) => listWebhooks(organization.id, cursor)
  const webhooks = useList(queryKey, list)
  const close = (): void => setOpen(undefined)
  const refresh = (): void => void client.invalidateQueries({ queryKey })
  const addButton = (
    <Button variant="primary" disabledReason={disabledReason} onClick={() => setOpen({ dialog: 'create' })}>
      Add webhook
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Where alerts go: budgets, quotas, refused provider keys, open circuits."
        actions={addButton}
      />
      <ListState
        what="Webhooks"
        query={webhooks}
        empty={
          <EmptyState title="No webhooks">
            <p>No one is notified when a budget is nearly spent.</p>
            {addButton}
          </EmptyState>
        }
      >
        <WebhookTable webhooks={webhooks.items} disabledReason={disabledReason} onOpen={setOpen} />
      </ListState>
      {open?.dialog === 'create' && (
        <WebhookDialog
          onClose={close}
          onDone={created => {
            refresh()
            if ('secret' in created) setOpen({ dialog: 'shown', secret: created.secret })
            else close()
          }}
        />
      )}
      {open?.dialog === 'change' && (
        <EditForm record={open.webhook} read={() => findById(list, open.webhook.id)}>
          {webhook => (
            <WebhookDialog
              current={webhook}
              onClose={close}
              onDone={() => {
                refresh()
                close()
              }}
            />
          )}
        </EditForm>
      )}
      {open?.dialog === 'shown' && (
        <SecretDialog
          title="The webhook’s secret"
          text="Your receiver verifies signatures with it (Standard Webhooks). This is the only time it is shown."
          secret={open.secret}
          noun="secret"
          onClose={close}
        />
      )}
      {open?.dialog === 'deliveries' && (
        <DeliveriesDialog webhook={open.webhook} disabledReason={disabledReason} onClose={close} />
      )}
      {open?.dialog === 'remove' && <RemoveDialog webhook={open.webhook} onClose={close} onDone={refresh} />}
    </>
  )
}

function listWebhooks(orgId: string, cursor: string | undefined) {
  const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor }
  return unwrap(api.GET('/v1/orgs/{orgId}/webhooks', { params: { path: { orgId }, query } }))
}

interface RemoveDialogProps {
  readonly webhook: Webhook
  readonly onClose: () => void
  readonly onDone: () => void
}

function RemoveDialog({ webhook, onClose, onDone }: RemoveDialogProps) {
  return (
    <ConfirmDialog
      title="Remove the webhook"
      name={new URL(webhook.url).host}
      action="Remove webhook"
      send={() => unwrap(api.DELETE('/v1/webhooks/{id}', { params: { path: { id: webhook.id } } }))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        Nothing more is sent to <code>{webhook.url}</code>, and its delivery history is deleted.
      </p>
    </ConfirmDialog>
  )
}

interface WebhookTableProps {
  readonly webhooks: readonly Webhook[]
  readonly disabledReason: string | undefined
  readonly onOpen: (open: Open) => void
}

function WebhookTable({ webhooks, disabledReason, onOpen }: WebhookTableProps) {
  return (
    <ScrollableTable label="Webhooks">
      <thead>
        <tr>
          <th scope="col">Address</th>
          <th scope="col" className="wide-only">
            Events
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {webhooks.map(webhook => (
          <tr key={webhook.id}>
            <td className="breaks">
              <code>{webhook.url}</code>
            </td>
            <td className="wide-only">
              <span className="row">
                {webhook.events.map(event => (
                  <span key={event} className="chip">
                    {event}
                  </span>
                ))}
              </span>
            </td>
            <td>
              <span className="row end-of-row">
                <Button
                  small
                  variant="quiet"
                  onClick={() => onOpen({ dialog: 'deliveries', webhook })}
                  aria-label={`Deliveries to ${webhook.url}`}
                >
                  Deliveries
                </Button>
                <RowActions name={webhook.url} disabledReason={disabledReason}>
                  <MenuItem onSelect={() => onOpen({ dialog: 'change', webhook })}>Change…</MenuItem>
                  <MenuItem isDanger onSelect={() => onOpen({ dialog: 'remove', webhook })}>
                    Remove…
                  </MenuItem>
                </RowActions>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}
