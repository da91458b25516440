import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, type Resource } from '../../api/client.ts'
import { findStored, useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { Edited } from '../../controls/edited.tsx'
import { Empty, ListState } from '../../controls/list-state.tsx'
import { OnceDialog } from '../../controls/once-dialog.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { useObjection, useOrganization } from '../../session/place-context.tsx'
import { DeliveriesDialog } from './deliveries-dialog.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'

type Webhook = Resource<'Webhook'>
type Open =
  | { readonly dialog: 'create' }
  | { readonly dialog: 'shown'; readonly secret: string }
  | { readonly dialog: 'change' | 'remove' | 'deliveries'; readonly webhook: Webhook }

export function WebhooksPage() {
  const organization = useOrganization()
  const objection = useObjection('admin')
  const client = useQueryClient()
  const [open, setOpen] = useState<Open>()
  const queryKey = ['webhooks', organization.id]
  const list = (cursor: string | undefined) => listWebhooks(organization.id, cursor)
  const webhooks = useList(queryKey, list)
  const close = (): void => setOpen(undefined)
  const refresh = (): void => void client.invalidateQueries({ queryKey })
  const addButton = (
    <Button look="primary" objection={objection} onClick={() => setOpen({ dialog: 'create' })}>
      Add webhook
    </Button>
  )
  return (
    <>
      <PageHead
        title="Webhooks"
        answer="Where alerts go: budgets, quotas, refused provider keys, open circuits."
        actions={addButton}
      />
      <ListState
        what="Webhooks"
        query={webhooks}
        empty={
          <Empty title="No webhooks">
            <p>Nobody is told when a budget is nearly spent.</p>
            {addButton}
          </Empty>
        }
      >
        <WebhookTable webhooks={webhooks.items} objection={objection} onOpen={setOpen} />
      </ListState>
      {open?.dialog === 'create' && (
        <WebhookDialog
          onClose={close}
          onDone={made => {
            refresh()
            if ('secret' in made) setOpen({ dialog: 'shown', secret: made.secret })
            else close()
          }}
        />
      )}
      {open?.dialog === 'change' && (
        <Edited record={open.webhook} read={() => findStored(list, open.webhook.id)}>
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
        </Edited>
      )}
      {open?.dialog === 'shown' && (
        <OnceDialog
          title="The webhook’s secret"
          text="Your receiver verifies signatures with it (Standard Webhooks). This is the only time that it is shown."
          secret={open.secret}
          noun="secret"
          onClose={close}
        />
      )}
      {open?.dialog === 'deliveries' && (
        <DeliveriesDialog webhook={open.webhook} objection={objection} onClose={close} />
      )}
      {open?.dialog === 'remove' && <RemoveDialog webhook={open.webhook} onClose={close} onDone={refresh} />}
    </>
  )
}

function listWebhooks(orgId: string, cursor: string | undefined) {
  const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor }
  return answerOf(api.GET('/v1/orgs/{orgId}/webhooks', { params: { path: { orgId }, query } }))
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
      send={() => answerOf(api.DELETE('/v1/webhooks/{id}', { params: { path: { id: webhook.id } } }))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        Nothing more is sent to <code>{webhook.url}</code>, and its deliveries are forgotten.
      </p>
    </ConfirmDialog>
  )
}

interface WebhookTableProps {
  readonly webhooks: readonly Webhook[]
  readonly objection: string | undefined
  readonly onOpen: (open: Open) => void
}

function WebhookTable({ webhooks, objection, onOpen }: WebhookTableProps) {
  return (
    <TableFrame label="Webhooks">
      <thead>
        <tr>
          <th scope="col">Address</th>
          <th scope="col" className="wide">
            Events
          </th>
          <th scope="col">
            <span className="only-heard">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {webhooks.map(webhook => (
          <tr key={webhook.id}>
            <td className="breaks">
              <code>{webhook.url}</code>
            </td>
            <td className="wide">
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
                  look="quiet"
                  onClick={() => onOpen({ dialog: 'deliveries', webhook })}
                  aria-label={`Deliveries to ${webhook.url}`}
                >
                  Deliveries
                </Button>
                <Button
                  small
                  look="quiet"
                  objection={objection}
                  onClick={() => onOpen({ dialog: 'change', webhook })}
                  aria-label={`Change ${webhook.url}`}
                >
                  Change
                </Button>
                <Button
                  small
                  look="danger"
                  objection={objection}
                  onClick={() => onOpen({ dialog: 'remove', webhook })}
                  aria-label={`Remove ${webhook.url}`}
                >
                  Remove
                </Button>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  )
}
