import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { MenuItem } from '../../controls/menu.tsx'
import { RemoveDialog } from '../../controls/remove-dialog.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { PlanDialog } from './plan-dialog.tsx'
import { getPlan, listPlans, plansKey } from './rule-calls.ts'
import { describePlan, type Plan } from './rules.ts'

type Open =
  | { readonly dialog: 'edit'; readonly plan: Plan | undefined }
  | { readonly dialog: 'remove'; readonly plan: Plan }

/** Lists the plans, which limit what each of their end users may use. */
export function PlanPanel() {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const disabledReason = useDisabledReason('developer')
  const [open, setOpen] = useState<Open>()
  const plans = useList(plansKey(environment.id), cursor => listPlans(environment.id, cursor))
  const close = (): void => setOpen(undefined)
  const create = (
    <Button disabledReason={disabledReason} onClick={() => setOpen({ dialog: 'edit', plan: undefined })}>
      Create plan
    </Button>
  )
  return (
    <section className="stack" aria-labelledby="plans">
      <div className="row">
        <h2 id="plans">End user plans</h2>
        {plans.items.length > 0 && create}
      </div>
      <ListState
        what="Plans"
        query={plans}
        empty={
          <EmptyState title="No plans yet">
            <p>A plan, such as free or pro, limits each of its end users.</p>
            {create}
          </EmptyState>
        }
      >
        <PlanTable plans={plans.items} disabledReason={disabledReason} onOpen={setOpen} />
      </ListState>
      {open?.dialog === 'edit' &&
        (open.plan === undefined ? (
          <PlanDialog plan={undefined} onClose={close} />
        ) : (
          <EditForm record={open.plan} read={() => getPlan(open.plan?.id ?? '')}>
            {plan => <PlanDialog plan={plan} onClose={close} />}
          </EditForm>
        ))}
      {open?.dialog === 'remove' && (
        <RemoveDialog
          title={`Remove ${open.plan.name}`}
          effect="Its end users get the default plan, or no plan if there is none."
          remove={() => unwrap(api.DELETE('/v1/plans/{id}', { params: { path: { id: open.plan.id } } }))}
          onDone={() => void client.invalidateQueries({ queryKey: plansKey(environment.id) })}
          onClose={close}
        />
      )}
    </section>
  )
}

interface PlanTableProps {
  readonly plans: readonly Plan[]
  readonly disabledReason: string | undefined
  readonly onOpen: (open: Open) => void
}

function PlanTable({ plans, disabledReason, onOpen }: PlanTableProps) {
  return (
    <ScrollableTable label="Plans" variant="plans">
      <thead>
        <tr>
          <th scope="col">Plan</th>
          <th scope="col">Allows each end user</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {plans.map(plan => (
          <tr key={plan.id}>
            <td>
              <span className="name">{plan.name}</span>{' '}
              {plan.is_default && <span className="chip">default</span>}
            </td>
            <td className="wrapped">{describePlan(plan)}</td>
            <td className="number">
              <RowActions name={plan.name} disabledReason={disabledReason}>
                <MenuItem onSelect={() => onOpen({ dialog: 'edit', plan })}>Change…</MenuItem>
                <MenuItem isDanger onSelect={() => onOpen({ dialog: 'remove', plan })}>
                  Remove…
                </MenuItem>
              </RowActions>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}
