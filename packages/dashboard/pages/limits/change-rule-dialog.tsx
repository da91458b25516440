import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { Edited } from '../../controls/edited.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { usePlace } from '../../session/place-context.tsx'
import { LastWeek } from './last-week.tsx'
import { changeRule, readRule, rulesKey } from './rule-calls.ts'
import { RuleDetails } from './rule-details.tsx'
import { type Rule, type RuleRecord, toRule } from './rules.ts'

interface ChangeRuleDialogProps {
  readonly record: RuleRecord
  /** Returns the name of a key, environment or project. */
  readonly nameOf: (id: string) => string
  readonly onClose: () => void
}

export function ChangeRuleDialog({ record, nameOf, onClose }: ChangeRuleDialogProps) {
  const place = usePlace()
  return (
    <Edited record={record.stored} read={() => readRule(place, record)}>
      {stored => (
        // Of the kind that it was read as.
        <ChangeRule rule={toRule({ ...record, stored } as RuleRecord, nameOf)} onClose={onClose} />
      )}
    </Edited>
  )
}

function ChangeRule({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const { environment } = usePlace()
  const client = useQueryClient()
  const [amount, setAmount] = useState(rule.amount)
  const form = useForm(
    (data, header) => changeRule(rule.record, amount, data, header),
    () => {
      void client.invalidateQueries({ queryKey: rulesKey(environment.id) })
      onClose()
    },
  )
  const { question, record } = rule
  return (
    <Dialog title={`Change the limit of ${rule.whom}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p>Now: {rule.says}.</p>
        <TextField
          label={rule.isMoney ? 'At most, in US dollars' : 'At most'}
          name={rule.isMoney ? 'limit_usd' : 'limit'}
          type="number"
          required
          min={0}
          step={rule.isMoney ? 'any' : 1}
          data-focus
          value={amount}
          onChange={({ target }) => setAmount(Number(target.value))}
          problem={form.problemOf(rule.isMoney ? 'limit_usd' : 'limit')}
        />
        <RuleDetails
          kind={record.kind}
          gracePct={record.kind === 'quota' ? record.stored.grace_pct : undefined}
          budget={record.kind === 'budget' ? record.stored : undefined}
          error={form.error}
        />
        {question !== undefined && (
          <p className="notice" role="status">
            <span>
              Tried on the past, it <LastWeek question={{ ...question, limit: amount }} />.
            </span>
          </p>
        )}
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isPending={form.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
