import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField } from '../../controls/field.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { describePlan } from '../limits/rules.ts'
import {
  changePlan,
  type EndUser,
  endUsersKey,
  findDefaultPlan,
  getEndUser,
  planChoicesQuery,
} from './end-user-calls.ts'

interface PlanChoiceDialogProps {
  readonly endUser: EndUser
  readonly onClose: () => void
}

export function PlanChoiceDialog({ endUser, onClose }: PlanChoiceDialogProps) {
  return (
    <EditForm record={endUser} read={() => getEndUser(endUser.id)}>
      {begun => <PlanChoice endUser={begun} onClose={onClose} />}
    </EditForm>
  )
}

function PlanChoice({ endUser, onClose }: PlanChoiceDialogProps) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const plans = useQuery(planChoicesQuery(environment.id))
  const defaultPlan = findDefaultPlan(plans.data?.data ?? [])
  const form = useForm(
    (data, header) =>
      changePlan(endUser.id, textOf(data, 'plan') === '' ? null : textOf(data, 'plan'), header),
    () => {
      void client.invalidateQueries({ queryKey: endUsersKey(environment.id) })
      onClose()
    },
  )
  return (
    <Dialog title={`Plan of ${endUser.external_id}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        {plans.data === undefined ? (
          <Skeleton rows={2} />
        ) : (
          <SelectField
            label="Plan"
            name="plan"
            defaultValue={endUser.plan ?? ''}
            data-focus
            problem={form.problemOf('plan')}
          >
            <option value="">
              {defaultPlan === undefined
                ? 'None: there is no default plan'
                : `The default plan, ${defaultPlan.name}`}
            </option>
            {plans.data.data.map(plan => (
              <option key={plan.id} value={plan.name}>
                {plan.name}: {describePlan(plan)}
              </option>
            ))}
          </SelectField>
        )}
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending || plans.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
