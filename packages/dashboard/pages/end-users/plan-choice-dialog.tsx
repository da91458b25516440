import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField } from '../../controls/field.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { listPlans } from '../limits/rule-calls.ts'
import { describePlan } from '../limits/rules.ts'
import { changePlan, type EndUser, endUsersKey, getEndUser } from './end-user-calls.ts'

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
  const plans = useQuery({
    queryKey: ['plan-choices', environment.id],
    queryFn: () => listPlans(environment.id),
  })
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
            <option value="">The default plan, if there is one</option>
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
