import { useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { Key } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { useForm } from '../../controls/use-form.ts'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import { LastWeek } from './last-week.tsx'
import { createRule, rulesKey } from './rule-calls.ts'
import { RuleDetails } from './rule-details.tsx'
import { choicesFor, kindOf, toQuestion, type Unit, type Whom, type Window, type Wish } from './rules.ts'

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
const WHOM: Readonly<Record<Whom, string>> = {
  default_end_user: 'each end user',
  environment: 'this environment',
  key: 'one key',
  end_user: 'one end user',
  project: 'the project',
  org: 'the organization',
}

/** A rule as the sentence that it is, with what it would have refused beside it. */
export function RuleDialog({
  keys,
  first,
  onClose,
}: {
  keys: readonly Key[]
  first: Wish
  onClose: () => void
}) {
  const place = usePlace()
  const client = useQueryClient()
  const admin = useObjection('admin')
  const [wish, setWish] = useState<Wish>(first)
  const question = useDeferredValue(toQuestion(wish))
  const kind = kindOf(wish)
  const form = useForm(
    data => createRule(place, wish, data),
    () => {
      void client.invalidateQueries({ queryKey: rulesKey(place.environment.id) })
      onClose()
    },
  )
  return (
    <Dialog title="Add a limit" shape="wide" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <Sentence wish={wish} keys={keys} onChange={setWish} />
        <RuleDetails key={kind} kind={kind} error={form.error} />
        <p className="notice" role="status">
          {question === undefined ? (
            <span>{toHint(wish)}</span>
          ) : (
            <span>
              Tried on the past, it <LastWeek question={question} />.
            </span>
          )}
        </p>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            isPending={form.isPending}
            objection={wish.unit === 'usd' ? admin : undefined}
          >
            Add limit
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface SentenceProps {
  readonly wish: Wish
  readonly keys: readonly Key[]
  readonly onChange: (wish: Wish) => void
}

function Sentence({ wish, keys, onChange }: SentenceProps) {
  const { windows, whom } = choicesFor(wish.unit)
  const setUnit = (unit: Unit): void => {
    const choices = choicesFor(unit)
    onChange({
      ...wish,
      unit,
      window: choices.windows.includes(wish.window) ? wish.window : (choices.windows[0] ?? 'minute'),
      whom: choices.whom.includes(wish.whom) ? wish.whom : (choices.whom[0] ?? 'environment'),
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
        step={wish.unit === 'usd' ? 'any' : 1}
        data-focus
        value={wish.amount}
        onChange={({ target }) => onChange({ ...wish, amount: Number(target.value) })}
      />
      <Choice
        label="Unit"
        value={wish.unit}
        names={UNITS}
        of={Object.keys(UNITS) as Unit[]}
        onChange={setUnit}
      />
      {windows.length > 0 && (
        <Choice
          label="Window"
          value={wish.window}
          names={WINDOWS}
          of={windows}
          onChange={window => onChange({ ...wish, window })}
        />
      )}
      <span>for</span>
      <Choice
        label="For whom"
        value={wish.whom}
        names={WHOM}
        of={whom}
        onChange={next => onChange({ ...wish, whom: next, ref: '' })}
      />
      {wish.whom === 'key' && (
        <select
          className="input"
          aria-label="Key"
          required
          value={wish.ref}
          onChange={({ target }) => onChange({ ...wish, ref: target.value })}
        >
          <option value="">Choose a key</option>
          {keys.map(({ id, name, prefix_display }) => (
            <option key={id} value={id}>
              {name} ({prefix_display})
            </option>
          ))}
        </select>
      )}
      {wish.whom === 'end_user' && (
        <input
          className="input"
          aria-label="End user"
          required
          maxLength={255}
          value={wish.ref}
          onChange={({ target }) => onChange({ ...wish, ref: target.value })}
        />
      )}
    </div>
  )
}

function toHint({ unit, window }: Wish): string {
  if (unit === 'concurrency') return 'How many run at the same moment; that is not tried on the past.'
  if (unit !== 'usd') return 'Name whom it binds, to see what it would have refused.'
  return window === 'total'
    ? 'Counts from now on, and never resets.'
    : `Counts the whole ${window}, also what was spent before now.`
}

interface ChoiceProps<Name extends string> {
  readonly label: string
  readonly value: Name
  readonly names: Readonly<Record<Name, string>>
  readonly of: readonly Name[]
  readonly onChange: (value: Name) => void
}

function Choice<Name extends string>({ label, value, names, of, onChange }: ChoiceProps<Name>) {
  return (
    <select
      className="input"
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value as Name)}
    >
      {of.map(each => (
        <option key={each} value={each}>
          {names[each]}
        </option>
      ))}
    </select>
  )
}
