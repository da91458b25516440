import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { usePlace } from '../../session/place-context.tsx'
import { LastWeek } from './last-week.tsx'
import { changeRule, rulesKey } from './rule-calls.ts'
import type { Rule } from './rules.ts'

export function ChangeRuleDialog({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const { environment } = usePlace()
  const client = useQueryClient()
  const [amount, setAmount] = useState(rule.amount)
  const form = useForm(
    () => changeRule(rule, amount),
    () => {
      void client.invalidateQueries({ queryKey: rulesKey(environment.id) })
      onClose()
    },
  )
  const { question } = rule
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
