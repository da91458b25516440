import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { Edited } from '../../controls/edited.tsx'
import { Empty, ListState } from '../../controls/list-state.tsx'
import { RemoveDialog } from '../../controls/remove-dialog.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import { PlanDialog } from './plan-dialog.tsx'
import { getPlan, listPlans, plansKey } from './rule-calls.ts'
import { describePlan, type Plan } from './rules.ts'

type Open =
  | { readonly dialog: 'edit'; readonly plan: Plan | undefined }
  | { readonly dialog: 'remove'; readonly plan: Plan }

/** What end users may use by what they pay. */
export function PlanPanel() {
  const { environment } = usePlace()
  const client = useQueryClient()
  const objection = useObjection('developer')
  const [open, setOpen] = useState<Open>()
  const plans = useList(plansKey(environment.id), cursor => listPlans(environment.id, cursor))
  const close = (): void => setOpen(undefined)
  const create = (
    <Button objection={objection} onClick={() => setOpen({ dialog: 'edit', plan: undefined })}>
      Create plan
    </Button>
  )
  return (
    <section className="stack" aria-labelledby="plans">
      <div className="row">
        <h2 id="plans">Plans of end users</h2>
        {plans.items.length > 0 && create}
      </div>
      <ListState
        what="Plans"
        query={plans}
        empty={
          <Empty title="No plans yet">
            <p>A plan bounds each of its end users: free and pro, say.</p>
            {create}
          </Empty>
        }
      >
        <PlanTable plans={plans.items} objection={objection} onOpen={setOpen} />
      </ListState>
      {open?.dialog === 'edit' &&
        (open.plan === undefined ? (
          <PlanDialog plan={undefined} onClose={close} />
        ) : (
          <Edited record={open.plan} read={() => getPlan(open.plan?.id ?? '')}>
            {plan => <PlanDialog plan={plan} onClose={close} />}
          </Edited>
        ))}
      {open?.dialog === 'remove' && (
        <RemoveDialog
          title={`Remove ${open.plan.name}`}
          effect="Its end users get the default plan, if there is one, else no bounds of a plan."
          remove={() => answerOf(api.DELETE('/v1/plans/{id}', { params: { path: { id: open.plan.id } } }))}
          onDone={() => void client.invalidateQueries({ queryKey: plansKey(environment.id) })}
          onClose={close}
        />
      )}
    </section>
  )
}

interface PlanTableProps {
  readonly plans: readonly Plan[]
  readonly objection: string | undefined
  readonly onOpen: (open: Open) => void
}

function PlanTable({ plans, objection, onOpen }: PlanTableProps) {
  return (
    <TableFrame label="Plans">
      <thead>
        <tr>
          <th scope="col">Plan</th>
          <th scope="col">Allows each end user</th>
          <th scope="col">
            <span className="only-heard">Actions</span>
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
              <Button
                small
                look="quiet"
                objection={objection}
                aria-label={`Change ${plan.name}`}
                onClick={() => onOpen({ dialog: 'edit', plan })}
              >
                Change
              </Button>
              <Button
                small
                look="quiet"
                objection={objection}
                aria-label={`Remove ${plan.name}`}
                onClick={() => onOpen({ dialog: 'remove', plan })}
              >
                Remove
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  )
}
