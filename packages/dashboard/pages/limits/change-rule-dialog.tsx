import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { changeRule, readRule, rulesKey } from './rule-calls.ts'
import { RuleDetails } from './rule-details.tsx'
import { RulePreview } from './rule-preview.tsx'
import { type Rule, type RuleRecord, toRule } from './rules.ts'

interface ChangeRuleDialogProps {
  readonly record: RuleRecord
  /** Returns the name of a key, environment or project. */
  readonly nameOf: (id: string) => string
  readonly onClose: () => void
}

export function ChangeRuleDialog({ record, nameOf, onClose }: ChangeRuleDialogProps) {
  const current = useEnvironment()
  return (
    <EditForm record={record.stored} read={() => readRule(current, record)}>
      {stored => (
        // The cast is safe: readRule returns a rule of the record's kind.
        <ChangeRule rule={toRule({ ...record, stored } as RuleRecord, nameOf)} onClose={onClose} />
      )}
    </EditForm>
  )
}

function ChangeRule({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const [amount, setAmount] = useState(rule.amount)
  const form = useForm(
    (data, header) => changeRule(rule.record, amount, data, header),
    () => {
      void client.invalidateQueries({ queryKey: rulesKey(environment.id) })
      onClose()
    },
  )
  const { previewInput, record } = rule
  return (
    <Dialog title={`Change limit: ${rule.appliesTo}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p>Currently: {rule.text}.</p>
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
        {previewInput !== undefined && (
          <p className="notice" role="status">
            <span>
              On past requests: <RulePreview previewInput={{ ...previewInput, limit: amount }} />.
            </span>
          </p>
        )}
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
