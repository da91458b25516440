import { TextAreaField, TextField } from '../../controls/field.tsx'
import type { CredentialField } from './provider-calls.ts'

interface CredentialInputProps {
  readonly field: CredentialField
  readonly keysUrl: string | null
  readonly providerName: string
  readonly problem: string | undefined
  readonly defaultValue?: string
  /** Defaults to what the catalogue says. */
  readonly isRequired?: boolean
  /** What an empty field means. */
  readonly note?: string | undefined
}

/** A field of a provider's credential, as the catalogue describes it. */
export function CredentialInput(props: CredentialInputProps) {
  const { field, keysUrl, providerName, problem, defaultValue, isRequired = field.required, note } = props
  const link = keysUrl !== null && (
    <a href={keysUrl} target="_blank" rel="noreferrer">
      Find it at {providerName}
    </a>
  )
  const hint =
    field.help === '' && link === false && note === undefined ? undefined : (
      <>
        {field.help} {note} {link}
      </>
    )
  const common = {
    label: field.label,
    name: field.name,
    required: isRequired,
    isOptional: !isRequired,
    defaultValue,
    hint,
    problem,
  }
  if (field.type !== 'text') return <TextAreaField {...common} rows={field.type === 'lines' ? 6 : 2} />
  return <TextField {...common} type={field.secret ? 'password' : 'text'} autoComplete="off" />
}
