import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keyNamesQuery } from '../../api/key-calls.ts'
import { MAX_LISTED } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { EmptyState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { RemoveDialog } from '../../controls/remove-dialog.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toCount } from '../../format/amounts.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { ChangeRuleDialog } from './change-rule-dialog.tsx'
import { PlanPanel } from './plan-panel.tsx'
import { loadRules, removeRule, rulesKey } from './rule-calls.ts'
import { RuleDialog } from './rule-dialog.tsx'
import { RuleTable } from './rule-table.tsx'
import { type Rule, type RuleDraft, toRules } from './rules.ts'
import { useRuleNames } from './use-rule-names.ts'
import './limits.css'

const EACH_END_USER: RuleDraft = {
  amount: 60,
  unit: 'requests',
  window: 'minute',
  scope: 'default_end_user',
  ref: '',
}
const MONTHLY_BUDGET: RuleDraft = { amount: 50, unit: 'usd', window: 'month', scope: 'project', ref: '' }

type Open =
  | { readonly dialog: 'add'; readonly first: RuleDraft }
  | { readonly dialog: 'change' | 'remove'; readonly rule: Rule }

export function LimitsPage() {
  const current = useEnvironment()
  const { environment } = current
  const client = useQueryClient()
  const developer = useDisabledReason('developer')
  const admin = useDisabledReason('admin')
  const [open, setOpen] = useState<Open>()
  const loaded = useQuery({ queryKey: rulesKey(environment.id), queryFn: () => loadRules(current) })
  const keys = useQuery(keyNamesQuery(environment.id))
  const { nameOf } = useRuleNames()
  const rules = loaded.data === undefined ? [] : toRules(loaded.data, nameOf)
  const close = (): void => setOpen(undefined)
  const add = (first: RuleDraft): void => setOpen({ dialog: 'add', first })
  return (
    <>
      <PageHeader
        title="Limits"
        description={loaded.data === undefined ? 'What is limited, and for whom?' : toDescription(rules)}
        actions={
          <Button variant="primary" disabledReason={developer} onClick={() => add(EACH_END_USER)}>
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
      {loaded.data?.isTruncated === true && <TruncationNotice />}
      {loaded.data !== undefined && (
        <div className="panel">
          {rules.length === 0 ? (
            <EmptyState title="Nothing limits spending here">
              <p>A single runaway loop can cost a month's money overnight.</p>
              <Button variant="primary" disabledReason={admin} onClick={() => add(MONTHLY_BUDGET)}>
                Set a monthly budget
              </Button>
            </EmptyState>
          ) : (
            <RuleTable
              rules={rules}
              disabledReasonOf={({ record }) => (record.kind === 'budget' ? admin : developer)}
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
          effect={`${open.rule.appliesTo}: ${open.rule.text}. It no longer refuses requests.`}
          remove={() => removeRule(open.rule.record)}
          onDone={() => void client.invalidateQueries({ queryKey: rulesKey(environment.id) })}
          onClose={close}
        />
      )}
    </>
  )
}

function TruncationNotice() {
  return (
    <p className="notice" role="status">
      There are more than {toCount(MAX_LISTED)} limits, quotas or budgets of one kind. The newest are shown.
    </p>
  )
}

function toDescription(rules: readonly Rule[]): string {
  if (rules.length === 0) return 'Nothing is limited here.'
  const full = rules.filter(({ used, amount }) => used !== null && used >= amount).length
  const count = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`
  if (full > 0) return `${count}, ${full} of them used up.`
  return rules.some(({ isMoney }) => isMoney) ? `${count}, none used up.` : `${count}, none of them on spend.`
}
