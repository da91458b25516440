import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useOrganization } from '../../session/environment-context.tsx'

const EVENTS = [
  ['budget.alert', 'A budget reaches an alert percentage'],
  ['quota.alert', 'A quota enters its grace'],
  ['credential.invalid', 'A provider refuses a key'],
  ['circuit.open', 'A failing model is skipped'],
] as const

interface WebhookDialogProps {
  /** The webhook to change. Without it, one is created, and the answer contains its secret. */
  readonly current?: Resource<'Webhook'>
  readonly onClose: () => void
  readonly onDone: (stored: Resource<'Webhook'> | Resource<'NewWebhookRecord'>) => void
}

export function WebhookDialog({ current, onClose, onDone }: WebhookDialogProps) {
  const organization = useOrganization()
  const form = useForm((data, header) => {
    const chosen = data.getAll('events')
    const body = {
      url: textOf(data, 'url'),
      events: EVENTS.map(([event]) => event).filter(event => chosen.includes(event)),
    }
    return current === undefined
      ? unwrap(api.POST('/v1/orgs/{orgId}/webhooks', { params: { path: { orgId: organization.id } }, body }))
      : unwrap(api.PATCH('/v1/webhooks/{id}', { params: { path: { id: current.id }, header }, body }))
  }, onDone)
  const problem = form.problemOf('events')
  return (
    <Dialog title={current === undefined ? 'Add a webhook' : 'Change the webhook'} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Address"
          name="url"
          type="url"
          required
          defaultValue={current?.url}
          placeholder="https://hooks.example.com/rideau"
          problem={form.problemOf('url')}
          data-focus
        />
        <fieldset>
          <legend className="field-label">Events</legend>
          <div className="choices">
            {EVENTS.map(([event, text]) => (
              <label key={event} className="choice">
                <input
                  type="checkbox"
                  name="events"
                  value={event}
                  defaultChecked={current === undefined || current.events.includes(event)}
                />
                {text}
              </label>
            ))}
          </div>
          {problem !== undefined && <p className="problem">Choose at least one.</p>}
        </fieldset>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            {current === undefined ? 'Add webhook' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
