import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keysKey, type NewKey } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { AreaField, SelectField, TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { usePlace } from '../../session/place-context.tsx'

const ENDPOINTS = ['chat', 'embeddings', 'images', 'client_tokens', 'device', 'feedback'] as const
const DAY_MS = 86_400_000

export function CreateKeyDialog({ onClose, onDone }: { onClose: () => void; onDone: (key: NewKey) => void }) {
  const { environment } = usePlace()
  const client = useQueryClient()
  const [kind, setKind] = useState<'secret' | 'publishable'>('secret')
  // A second click must not make a second key.
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm(
    data =>
      answerOf(
        api.POST('/v1/environments/{envId}/keys', {
          params: { path: { envId: environment.id }, header: { 'Idempotency-Key': idempotencyKey } },
          body: toBody(data, kind),
        }),
      ),
    key => {
      void client.invalidateQueries({ queryKey: keysKey(environment.id) })
      onDone(key)
    },
  )
  return (
    <Dialog title={`Create a ${environment.name} key`} shape="at-side" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Name"
          name="name"
          required
          maxLength={200}
          data-focus
          hint="Where it will be used, such as web-backend."
          problem={form.problemOf('name')}
        />
        <SelectField
          label="Kind"
          value={kind}
          onChange={event => setKind(event.target.value === 'publishable' ? 'publishable' : 'secret')}
          hint={
            kind === 'secret'
              ? 'For servers only: whoever has it can call models.'
              : 'May be in an app or a page: alone it opens nothing.'
          }
        >
          <option value="secret">Secret</option>
          <option value="publishable">Publishable</option>
        </SelectField>
        <RestrictionFields problemOf={form.problemOf} />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isPending={form.isPending}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function RestrictionFields({ problemOf }: { problemOf: (name: string) => string | undefined }) {
  return (
    <>
      <AreaField
        label="Models"
        name="restrictions.allowed_models"
        isOptional
        rows={2}
        placeholder={'openai/gpt-4o-mini\nanthropic/*'}
        hint="One a line: a model, an alias, or all of a provider as provider/*. Empty: every model."
        problem={problemOf('restrictions.allowed_models')}
      />
      <fieldset>
        <legend className="field-label">
          Endpoints <span className="muted">(none chosen: all)</span>
        </legend>
        <div className="choices">
          {ENDPOINTS.map(name => (
            <label key={name} className="choice">
              <input type="checkbox" name="restrictions.allowed_endpoints" value={name} />
              {name}
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        label="Most that one request may cost, in US dollars"
        name="restrictions.max_request_cost_usd"
        type="number"
        min={0}
        step="any"
        isOptional
        problem={problemOf('restrictions.max_request_cost_usd')}
      />
      <SelectField label="Expires" name="days" defaultValue="">
        <option value="">Never</option>
        <option value="7">In 7 days</option>
        <option value="30">In 30 days</option>
        <option value="90">In 90 days</option>
        <option value="365">In a year</option>
      </SelectField>
    </>
  )
}

/** `crypto.randomUUID` is missing where the page has no https. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

function toBody(data: FormData, kind: 'secret' | 'publishable') {
  const models = textOf(data, 'restrictions.allowed_models')
    .split(/[\n,]/)
    .map(each => each.trim())
    .filter(each => each !== '')
  const chosen = data.getAll('restrictions.allowed_endpoints')
  const endpoints = ENDPOINTS.filter(name => chosen.includes(name))
  const cost = textOf(data, 'restrictions.max_request_cost_usd')
  const days = textOf(data, 'days')
  return {
    kind,
    name: textOf(data, 'name'),
    restrictions: {
      allowed_models: models.length === 0 ? null : models,
      allowed_endpoints: endpoints.length === 0 ? null : endpoints,
      max_request_cost_usd: cost === '' ? null : Number(cost),
    },
    expires_at: days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
  }
}
