import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, api, type Resource } from '../../api/client.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { ListState } from '../../controls/list-state.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useOrganization } from '../../session/place-context.tsx'

const POLL_MS = 2_000
const PAGE_SIZE = 20
const LOOKS = { pending: '', delivered: 'good', failed: 'bad' } as const

interface DeliveriesDialogProps {
  readonly webhook: Resource<'Webhook'>
  readonly objection: string | undefined
  readonly onClose: () => void
}

/** What was sent to a webhook's address, and a test of it. */
export function DeliveriesDialog({ webhook, objection, onClose }: DeliveriesDialogProps) {
  const { time_zone: timeZone } = useOrganization()
  const client = useQueryClient()
  const queryKey = ['deliveries', webhook.id]
  const path = { id: webhook.id }
  const deliveries = useList(
    queryKey,
    cursor =>
      answerOf(
        api.GET('/v1/webhooks/{id}/deliveries', {
          params: {
            path,
            query: cursor === undefined ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor },
          },
        }),
      ),
    // While an attempt runs or follows.
    { pollMs: items => (items.some(({ state }) => state === 'pending') ? POLL_MS : undefined) },
  )
  const test = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/webhooks/{id}/test', { params: { path } })),
    onSuccess: () => client.invalidateQueries({ queryKey }),
  })
  return (
    <Dialog title="Deliveries" shape="wide" onClose={onClose}>
      <p className="row">
        <code className="breaks">{webhook.url}</code>
        <Button isPending={test.isPending} objection={objection} onClick={() => test.mutate()} data-focus>
          Send a test
        </Button>
      </p>
      <FormProblem error={test.error} />
      <ListState
        what="Deliveries"
        query={deliveries}
        empty={<p className="padded muted">Nothing was sent in the last 30 days.</p>}
      >
        <TableFrame label="Deliveries">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                Attempts
              </th>
              <th scope="col">Last failure</th>
              <th scope="col" className="wide">
                Created
              </th>
            </tr>
          </thead>
          <tbody>
            {deliveries.items.map(each => (
              <tr key={each.id}>
                <td>{each.event}</td>
                <td>
                  <span className={`chip ${LOOKS[each.state]}`}>{each.state}</span>
                </td>
                <td className="number">{each.attempts}</td>
                <td className="breaks">{each.failure ?? '–'}</td>
                <td className="wide">
                  <TimeAgo at={each.created_at} timeZone={timeZone} />
                </td>
              </tr>
            ))}
          </tbody>
        </TableFrame>
      </ListState>
    </Dialog>
  )
}
