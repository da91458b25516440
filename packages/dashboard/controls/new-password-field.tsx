import { type ComponentProps, type FormEvent, useState } from 'react'
import { TextField } from './field.tsx'

const MIN_CHARS = 10

/** A field for a password that is being chosen. A short one is explained below the field, and nothing is sent. */
export function NewPasswordField({ problem, ...props }: ComponentProps<typeof TextField>) {
  const [ownProblem, setOwnProblem] = useState<string>()
  const onInvalid = (event: FormEvent<HTMLInputElement>): void => {
    const input = event.currentTarget
    // The browser's own message would cover the hint.
    event.preventDefault()
    setOwnProblem(
      input.value === ''
        ? 'Enter a password.'
        : `Must have at least ${MIN_CHARS} characters; this one has ${input.value.length}.`,
    )
    if (input.form?.querySelector('input:invalid') === input) input.focus()
  }
  return (
    <TextField
      type="password"
      autoComplete="new-password"
      required
      minLength={MIN_CHARS}
      hint={`At least ${MIN_CHARS} characters.`}
      {...props}
      problem={ownProblem ?? problem}
      onInvalid={onInvalid}
      onChange={() => setOwnProblem(undefined)}
    />
  )
}
