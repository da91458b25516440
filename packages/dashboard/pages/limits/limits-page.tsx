import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keyNamesQuery } from '../../api/key-calls.ts'
import { MOST_LISTED } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { Empty } from '../../controls/list-state.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { RemoveDialog } from '../../controls/remove-dialog.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toCount } from '../../format/amounts.ts'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import { ChangeRuleDialog } from './change-rule-dialog.tsx'
import { PlanPanel } from './plan-panel.tsx'
import { loadRules, removeRule, rulesKey } from './rule-calls.ts'
import { RuleDialog } from './rule-dialog.tsx'
import { RuleTable } from './rule-table.tsx'
import { type Rule, toRules, type Wish } from './rules.ts'
import './limits.css'

const EACH_END_USER: Wish = {
  amount: 60,
  unit: 'requests',
  window: 'minute',
  whom: 'default_end_user',
  ref: '',
}
const MONTHLY_BUDGET: Wish = { amount: 50, unit: 'usd', window: 'month', whom: 'project', ref: '' }

type Open =
  | { readonly dialog: 'add'; readonly first: Wish }
  | { readonly dialog: 'change' | 'remove'; readonly rule: Rule }

export function LimitsPage() {
  const place = usePlace()
  const { environment, organization } = place
  const client = useQueryClient()
  const developer = useObjection('developer')
  const admin = useObjection('admin')
  const [open, setOpen] = useState<Open>()
  const loaded = useQuery({ queryKey: rulesKey(environment.id), queryFn: () => loadRules(place) })
  const keys = useQuery(keyNamesQuery(environment.id))
  const names = new Map<string, string>([
    ...(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const),
    ...organization.projects.flatMap(({ id, name, environments }) => [
      [id, name] as const,
      ...environments.map(each => [each.id, `${name}, ${each.name}`] as const),
    ]),
  ])
  const nameOf = (id: string): string => names.get(id) ?? id
  const rules = loaded.data === undefined ? [] : toRules(loaded.data, nameOf)
  const close = (): void => setOpen(undefined)
  const add = (first: Wish): void => setOpen({ dialog: 'add', first })
  return (
    <>
      <PageHead
        title="Limits"
        answer={loaded.data === undefined ? 'What stops whom, and when?' : toAnswer(rules)}
        actions={
          <Button look="primary" objection={developer} onClick={() => add(EACH_END_USER)}>
            Add limit
          </Button>
        }
      />
      {loaded.isPending && (
        <div className="panel padded">
          <Skeleton rows={5} />
        </div>
      )}
      {loaded.isError && (
        <ErrorPanel what="Limits" error={loaded.error} onRetry={() => void loaded.refetch()} />
      )}
      {loaded.data?.isCut === true && <CutNotice />}
      {loaded.data !== undefined && (
        <div className="panel">
          {rules.length === 0 ? (
            <Empty title="Nothing limits spend here">
              <p>One loop in somebody's code can cost a month's money in a night.</p>
              <Button look="primary" objection={admin} onClick={() => add(MONTHLY_BUDGET)}>
                Set a monthly budget
              </Button>
            </Empty>
          ) : (
            <RuleTable
              rules={rules}
              objectionOf={({ record }) => (record.kind === 'budget' ? admin : developer)}
              onChange={rule => setOpen({ dialog: 'change', rule })}
              onRemove={rule => setOpen({ dialog: 'remove', rule })}
            />
          )}
        </div>
      )}
      <PlanPanel />
      {open?.dialog === 'add' && (
        <RuleDialog keys={keys.data?.data ?? []} first={open.first} onClose={close} />
      )}
      {open?.dialog === 'change' && (
        <ChangeRuleDialog record={open.rule.record} nameOf={nameOf} onClose={close} />
      )}
      {open?.dialog === 'remove' && (
        <RemoveDialog
          title="Remove this limit"
          effect={`${open.rule.whom}: ${open.rule.says}. Nothing is refused by it from now on.`}
          remove={() => removeRule(open.rule.record)}
          onDone={() => void client.invalidateQueries({ queryKey: rulesKey(environment.id) })}
          onClose={close}
        />
      )}
    </>
  )
}

function CutNotice() {
  return (
    <p className="notice" role="status">
      There are more than {toCount(MOST_LISTED)} limits, quotas or budgets of one kind. The newest are shown.
    </p>
  )
}

function toAnswer(rules: readonly Rule[]): string {
  if (rules.length === 0) return 'Nothing is limited here.'
  const full = rules.filter(({ used, amount }) => used !== null && used >= amount).length
  const count = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`
  if (full > 0) return `${count}, ${full} of them used up.`
  return rules.some(({ isMoney }) => isMoney) ? `${count}, none used up.` : `${count}, none of them on spend.`
}
