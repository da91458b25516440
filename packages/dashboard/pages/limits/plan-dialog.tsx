import { useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextAreaField, TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { plansKey } from './rule-calls.ts'
import type { Plan } from './rules.ts'

const BOUNDS = [
  ['requests_per_minute', 'Requests a minute', 1],
  ['max_concurrency', 'Requests at once', 1],
  ['tokens_per_day', 'Tokens a day', 1],
  ['usd_per_month', 'US dollars a month', 'any'],
] as const

export function PlanDialog({ plan, onClose }: { plan: Plan | undefined; onClose: () => void }) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const form = useForm(
    (data, header) =>
      unwrap(
        plan === undefined
          ? api.POST('/v1/environments/{envId}/plans', {
              params: { path: { envId: environment.id } },
              body: toBody(data),
            })
          : api.PATCH('/v1/plans/{id}', { params: { path: { id: plan.id }, header }, body: toBody(data) }),
      ),
    () => {
      void client.invalidateQueries({ queryKey: plansKey(environment.id) })
      onClose()
    },
  )
  return (
    <Dialog
      title={plan === undefined ? 'Create a plan' : `Change ${plan.name}`}
      variant="drawer"
      onClose={onClose}
    >
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Name"
          name="name"
          required
          maxLength={64}
          data-focus
          defaultValue={plan?.name ?? ''}
          hint="The name that your tokens use, such as pro."
          problem={form.problemOf('name')}
        />
        {BOUNDS.map(([name, label, step]) => (
          <TextField
            key={name}
            label={`${label}, for each end user`}
            name={name}
            type="number"
            min={0}
            step={step}
            isOptional
            defaultValue={plan?.[name] ?? ''}
            problem={form.problemOf(name)}
          />
        ))}
        <TextAreaField
          label="Models"
          name="allowed_models"
          isOptional
          rows={2}
          defaultValue={plan?.allowed_models?.join('\n') ?? ''}
          hint="One per line. Leave empty to allow every model."
          problem={form.problemOf('allowed_models')}
        />
        <label className="choice">
          <input type="checkbox" name="is_default" defaultChecked={plan?.is_default ?? false} />
          Default for end users without a plan
        </label>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            {plan === undefined ? 'Create plan' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function toBody(data: FormData) {
  const numberOf = (name: string): number | null => {
    const text = textOf(data, name)
    return text === '' ? null : Number(text)
  }
  const models = textOf(data, 'allowed_models')
    .split(/[\n,]/)
    .map(item => item.trim())
    .filter(item => item !== '')
  return {
    name: textOf(data, 'name'),
    requests_per_minute: numberOf('requests_per_minute'),
    max_concurrency: numberOf('max_concurrency'),
    tokens_per_day: numberOf('tokens_per_day'),
    usd_per_month: numberOf('usd_per_month'),
    allowed_models: models.length === 0 ? null : models,
    is_default: data.get('is_default') !== null,
  }
}
