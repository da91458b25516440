import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { ListState } from '../../controls/list-state.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useOrganization } from '../../session/environment-context.tsx'

const POLL_MS = 2_000
const PAGE_SIZE = 20
const STATE_VARIANTS = { pending: '', delivered: 'good', failed: 'bad' } as const

interface DeliveriesDialogProps {
  readonly webhook: Resource<'Webhook'>
  readonly disabledReason: string | undefined
  readonly onClose: () => void
}

/** Lists what was sent to a webhook's address, and sends a test. */
export function DeliveriesDialog({ webhook, disabledReason, onClose }: DeliveriesDialogProps) {
  const { time_zone: timeZone } = useOrganization()
  const client = useQueryClient()
  const queryKey = ['deliveries', webhook.id]
  const path = { id: webhook.id }
  const deliveries = useList(
    queryKey,
    cursor =>
      unwrap(
        api.GET('/v1/webhooks/{id}/deliveries', {
          params: {
            path,
            query: cursor === undefined ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor },
          },
        }),
      ),
    // Polls while an attempt is running or scheduled.
    { pollMs: items => (items.some(({ state }) => state === 'pending') ? POLL_MS : undefined) },
  )
  const test = useMutation({
    mutationFn: () => unwrap(api.POST('/v1/webhooks/{id}/test', { params: { path } })),
    onSuccess: () => client.invalidateQueries({ queryKey }),
  })
  return (
    <Dialog title="Deliveries" variant="wide" onClose={onClose}>
      <p className="row">
        <code className="breaks">{webhook.url}</code>
        <Button
          isPending={test.isPending}
          disabledReason={disabledReason}
          onClick={() => test.mutate()}
          data-focus
        >
          Send a test
        </Button>
      </p>
      <FormProblem error={test.error} />
      <ListState
        what="Deliveries"
        query={deliveries}
        empty={<p className="padded muted">Nothing was sent in the last 30 days.</p>}
      >
        <ScrollableTable label="Deliveries">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                Attempts
              </th>
              <th scope="col">Last failure</th>
              <th scope="col" className="wide-only">
                Created
              </th>
            </tr>
          </thead>
          <tbody>
            {deliveries.items.map(delivery => (
              <tr key={delivery.id}>
                <td>{delivery.event}</td>
                <td>
                  <span className={`chip ${STATE_VARIANTS[delivery.state]}`}>{delivery.state}</span>
                </td>
                <td className="number">{delivery.attempts}</td>
                <td className="breaks">{delivery.failure ?? '–'}</td>
                <td className="wide-only">
                  <TimeAgo at={delivery.created_at} timeZone={timeZone} />
                </td>
              </tr>
            ))}
          </tbody>
        </ScrollableTable>
      </ListState>
    </Dialog>
  )
}
