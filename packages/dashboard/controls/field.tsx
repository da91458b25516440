import { type ComponentProps, type ReactNode, useId } from 'react'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string | undefined
  /** Adds "(optional)" to the label. */
  readonly isOptional?: boolean | undefined
}

interface FieldIds {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

/** A label above a control, and below it the hint and the problem, which assistive technology reads as its description. */
function Field({
  label,
  hint,
  problem,
  isOptional = false,
  children,
}: FieldProps & { readonly children: (ids: FieldIds) => ReactNode }) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`]
    .filter(item => item !== '')
    .join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {isOptional && <span className="optional"> (optional)</span>}
      </label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p className="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

type TextFieldProps = FieldProps & Omit<ComponentProps<'input'>, 'id'>

export function TextField({ label, hint, problem, isOptional, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem} isOptional={isOptional}>
      {ids => <input type="text" autoComplete="off" {...input} {...ids} className="input" />}
    </Field>
  )
}

type SelectFieldProps = FieldProps & Omit<ComponentProps<'select'>, 'id'>

export function SelectField({ label, hint, problem, isOptional, children, ...select }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem} isOptional={isOptional}>
      {ids => (
        <select {...select} {...ids} className="input">
          {children}
        </select>
      )}
    </Field>
  )
}

type TextAreaFieldProps = FieldProps & Omit<ComponentProps<'textarea'>, 'id'>

export function TextAreaField({ label, hint, problem, isOptional, ...area }: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem} isOptional={isOptional}>
      {ids => <textarea rows={3} {...area} {...ids} className="input" />}
    </Field>
  )
}
