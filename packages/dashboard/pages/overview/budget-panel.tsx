import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { MeterBar } from '../../controls/meter-bar.tsx'
import { toPercent } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { toReset } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { toRule } from '../limits/rules.ts'
import { useRuleNames } from '../limits/use-rule-names.ts'

/** Shows the project's budgets, with what running requests have reserved. */
export function BudgetPanel() {
  const { project, organization } = useEnvironment()
  const { nameOf, isPending } = useRuleNames()
  const budgets = useQuery({
    queryKey: ['budgets', project.id],
    queryFn: () =>
      unwrap(
        api.GET('/v1/projects/{projectId}/budgets', {
          params: { path: { projectId: project.id }, query: { limit: 20 } },
        }),
      ),
  })
  if (budgets.isError) return <ErrorPanel what="Budgets" error={budgets.error} />
  if (isPending || budgets.data === undefined || budgets.data.data.length === 0) return null
  return (
    <section className="panel" aria-labelledby="budgets">
      <header>
        <h2 id="budgets">Budgets of {project.name}</h2>
      </header>
      <ul className="stack padded">
        {budgets.data.data.map(budget => {
          const { id, limit_usd, spent_usd, reserved_usd, projected_usd, window, resets_at } = budget
          const share = limit_usd === 0 ? 1 : spent_usd / limit_usd
          const reserved = limit_usd === 0 ? 0 : (reserved_usd ?? 0) / limit_usd
          return (
            <li key={id} className="budget">
              <span className="row">
                <strong>{toRule({ kind: 'budget', stored: budget }, nameOf).appliesTo}</strong>
                <span>
                  {toMoney(spent_usd)} of {toMoney(limit_usd)}{' '}
                  {window === 'total' ? 'in total' : `a ${window}`}
                  {reserved_usd !== null && reserved_usd > 0 && ` + ${toMoney(reserved_usd)} reserved`}
                </span>
              </span>
              <span className="muted small">
                {toPercent(share)}
                {projected_usd !== null && `, likely ${toMoney(projected_usd)} by the end`}
                {resets_at !== null && `, ${toReset(Date.parse(resets_at), organization.time_zone)}`}
              </span>
              <MeterBar share={share} reserved={reserved} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
