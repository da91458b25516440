import { SelectField, TextField } from '../../controls/field.tsx'
import { textOf } from '../../controls/use-form.ts'
import type { Budget, RuleKind } from './rules.ts'

interface RuleDetailsProps {
  readonly kind: RuleKind
  /** Undefined for a new rule, which gets the defaults of the API. */
  readonly gracePct?: number | undefined
  readonly budget?: Pick<Budget, 'alert_pcts' | 'on_tight'> | undefined
  /** The parameter that the API refused, with the reason. */
  readonly error: { readonly param?: string | undefined; readonly message: string } | undefined
}

/** The fields of a quota or budget besides its amount. A limit has none. */
export function RuleDetails({ kind, gracePct = 0, budget, error }: RuleDetailsProps) {
  const problemOf = (name: string): string | undefined =>
    error?.param?.split('.')[0] === name ? error.message : undefined
  if (kind === 'limit') return null
  if (kind === 'quota') {
    return (
      <TextField
        label="Grace, in percent"
        name="grace_pct"
        type="number"
        min={0}
        step="any"
        defaultValue={gracePct}
        hint="Usage up to this much above the amount still passes and raises quota.alert; beyond it, requests are refused."
        problem={problemOf('grace_pct')}
      />
    )
  }
  return (
    <>
      <TextField
        label="Alert at, in percent"
        name="alert_pcts"
        isOptional
        inputMode="numeric"
        pattern="\s*(\d+(\s*,\s*\d+)*)?\s*"
        title="Whole numbers with commas between them, such as 50, 80, 100"
        placeholder="50, 80, 100"
        defaultValue={budget?.alert_pcts.join(', ') ?? ''}
        hint="Each raises budget.alert once per window, for the webhooks of the organization."
        problem={problemOf('alert_pcts')}
      />
      <SelectField
        label="When little is left"
        name="on_tight"
        defaultValue={budget?.on_tight ?? 'cap'}
        hint="For a request whose own maximum of output tokens no longer fits."
        problem={problemOf('on_tight')}
      >
        <option value="cap">Lower its maximum to what fits</option>
        <option value="refuse">Refuse it</option>
      </SelectField>
    </>
  )
}

export function readGrace(data: FormData): { grace_pct: number } {
  return { grace_pct: Number(textOf(data, 'grace_pct')) }
}

export function readBudgetDetails(data: FormData): Pick<Budget, 'alert_pcts' | 'on_tight'> {
  const pcts = textOf(data, 'alert_pcts')
  return {
    alert_pcts: pcts === '' ? [] : pcts.split(',').map(Number),
    on_tight: textOf(data, 'on_tight') === 'refuse' ? 'refuse' : 'cap',
  }
}
