import { useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { Key } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { useForm } from '../../controls/use-form.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { createRule, rulesKey } from './rule-calls.ts'
import { RuleDetails } from './rule-details.tsx'
import { RulePreview } from './rule-preview.tsx'
import {
  choicesFor,
  kindOf,
  type RuleDraft,
  type Scope,
  toPreviewInput,
  type Unit,
  type Window,
} from './rules.ts'

const UNITS: Readonly<Record<Unit, string>> = {
  requests: 'requests',
  tokens: 'tokens',
  concurrency: 'requests at once',
  usd: 'US dollars',
}
const WINDOWS: Readonly<Record<Window, string>> = {
  minute: 'a minute',
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
}
const SCOPE_NAMES: Readonly<Record<Scope, string>> = {
  default_end_user: 'each end user',
  environment: 'this environment',
  key: 'one key',
  end_user: 'one end user',
  project: 'the project',
  org: 'the organization',
}

/** Edits a new rule as a sentence, and shows what it would have refused in the past. */
export function RuleDialog({
  keys,
  first,
  onClose,
}: {
  keys: readonly Key[]
  first: RuleDraft
  onClose: () => void
}) {
  const current = useEnvironment()
  const client = useQueryClient()
  const admin = useDisabledReason('admin')
  const [draft, setDraft] = useState<RuleDraft>(first)
  const previewInput = useDeferredValue(toPreviewInput(draft))
  const kind = kindOf(draft)
  const form = useForm(
    data => createRule(current, draft, data),
    () => {
      void client.invalidateQueries({ queryKey: rulesKey(current.environment.id) })
      onClose()
    },
  )
  return (
    <Dialog title="Add a limit" variant="wide" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <Sentence draft={draft} keys={keys} onChange={setDraft} />
        <RuleDetails key={kind} kind={kind} error={form.error} />
        <p className="notice" role="status">
          {previewInput === undefined ? (
            <span>{toHint(draft)}</span>
          ) : (
            <span>
              On past requests: <RulePreview previewInput={previewInput} />.
            </span>
          )}
        </p>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            isPending={form.isPending}
            disabledReason={draft.unit === 'usd' ? admin : undefined}
          >
            Add limit
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface SentenceProps {
  readonly draft: RuleDraft
  readonly keys: readonly Key[]
  readonly onChange: (draft: RuleDraft) => void
}

function Sentence({ draft, keys, onChange }: SentenceProps) {
  const { windows, scopes } = choicesFor(draft.unit)
  const setUnit = (unit: Unit): void => {
    const choices = choicesFor(unit)
    onChange({
      ...draft,
      unit,
      window: choices.windows.includes(draft.window) ? draft.window : (choices.windows[0] ?? 'minute'),
      scope: choices.scopes.includes(draft.scope) ? draft.scope : (choices.scopes[0] ?? 'environment'),
    })
  }
  return (
    <div className="sentence">
      <span>At most</span>
      <input
        className="input amount"
        aria-label="Amount"
        type="number"
        required
        min={0}
        step={draft.unit === 'usd' ? 'any' : 1}
        data-focus
        value={draft.amount}
        onChange={({ target }) => onChange({ ...draft, amount: Number(target.value) })}
      />
      <Choice
        label="Unit"
        value={draft.unit}
        names={UNITS}
        options={Object.keys(UNITS) as Unit[]}
        onChange={setUnit}
      />
      {windows.length > 0 && (
        <Choice
          label="Window"
          value={draft.window}
          names={WINDOWS}
          options={windows}
          onChange={window => onChange({ ...draft, window })}
        />
      )}
      <span>for</span>
      <Choice
        label="For whom"
        value={draft.scope}
        names={SCOPE_NAMES}
        options={scopes}
        onChange={next => onChange({ ...draft, scope: next, ref: '' })}
      />
      {draft.scope === 'key' && (
        <select
          className="input"
          aria-label="Key"
          required
          value={draft.ref}
          onChange={({ target }) => onChange({ ...draft, ref: target.value })}
        >
          <option value="">Choose a key</option>
          {keys.map(({ id, name, prefix_display }) => (
            <option key={id} value={id}>
              {name} ({prefix_display})
            </option>
          ))}
        </select>
      )}
      {draft.scope === 'end_user' && (
        <input
          className="input"
          aria-label="End user"
          required
          maxLength={255}
          value={draft.ref}
          onChange={({ target }) => onChange({ ...draft, ref: target.value })}
        />
      )}
    </div>
  )
}

function toHint({ unit, window }: RuleDraft): string {
  if (unit === 'concurrency')
    return 'Counts requests that run at the same moment, which cannot be tried on past requests.'
  if (unit !== 'usd') return 'Choose a key or an end user to see what it would have refused.'
  return window === 'total'
    ? 'Counts from now on, and never resets.'
    : `Counts the whole ${window}, including what has been spent already.`
}

interface ChoiceProps<Name extends string> {
  readonly label: string
  readonly value: Name
  readonly names: Readonly<Record<Name, string>>
  readonly options: readonly Name[]
  readonly onChange: (value: Name) => void
}

function Choice<Name extends string>({ label, value, names, options, onChange }: ChoiceProps<Name>) {
  return (
    <select
      className="input"
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value as Name)}
    >
      {options.map(option => (
        <option key={option} value={option}>
          {names[option]}
        </option>
      ))}
    </select>
  )
}
