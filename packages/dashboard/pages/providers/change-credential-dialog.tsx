import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { CredentialInput } from './credential-input.tsx'
import { CredentialOutcome } from './credential-outcome.tsx'
import {
  type CatalogProvider,
  type Credential,
  type CredentialField,
  credentialsKey,
  toCredentialChange,
  toFieldText,
  validateCredential,
} from './provider-calls.ts'

interface ChangeCredentialDialogProps {
  readonly old: Credential
  readonly provider: CatalogProvider
  readonly onClose: () => void
}

/** Changes a credential's name, share, key or address. A new address needs the key again. */
export function ChangeCredentialDialog({ old, provider, onClose }: ChangeCredentialDialogProps) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const [checked, setChecked] = useState<Credential>()
  const [isMoved, setMoved] = useState(false)
  const form = useForm(
    async (data, header) => {
      const body = toCredentialChange(provider, old, name => textOf(data, name))
      const params = { path: { id: old.id }, header }
      const changed = await unwrap(api.PATCH('/v1/provider-credentials/{id}', { params, body }))
      if (!('api_key' in body)) return undefined
      // The credential is stored even if the provider refuses it.
      return await validateCredential(old.id).catch(() => changed)
    },
    credential => {
      void client.invalidateQueries({ queryKey: credentialsKey(environment.id) })
      void client.invalidateQueries({ queryKey: ['gateway-models', environment.id] })
      if (credential === undefined) onClose()
      else setChecked(credential)
    },
  )
  return (
    <Dialog title={`Change ${old.name}`} variant="drawer" onClose={onClose}>
      {checked !== undefined ? (
        <CredentialOutcome credential={checked} onClose={onClose} />
      ) : (
        <form
          className="form"
          onSubmit={form.onSubmit}
          onChange={event => setMoved(isMovedBy(new FormData(event.currentTarget), provider, old))}
        >
          <TextField
            label="Name"
            name="name"
            required
            maxLength={200}
            data-focus
            defaultValue={old.name}
            problem={form.problemOf('name')}
          />
          <TextField
            label="Share"
            name="weight"
            type="number"
            min={0}
            max={1000}
            isOptional
            defaultValue={old.weight}
            hint="The keys of a provider share its requests in proportion to these numbers. 0: used only if no other key can answer."
            problem={form.problemOf('weight')}
          />
          {provider.credential_fields.map(field => (
            <CredentialInput
              key={field.name}
              field={field.name === 'api_key' ? { ...field, label: `New ${field.label}` } : field}
              keysUrl={field.name === 'api_key' ? provider.keys_url : null}
              providerName={provider.name}
              problem={form.problemOf(field.name)}
              isRequired={field.secret ? field.required && isMoved : field.required}
              note={noteOf(field, isMoved)}
              {...(field.secret ? {} : { defaultValue: toFieldText(old, field.name) })}
            />
          ))}
          <FormProblem error={form.error} />
          <div className="form-end">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" isPending={form.isPending}>
              Save
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function noteOf({ name, secret }: CredentialField, isMoved: boolean): string | undefined {
  if (!secret) return undefined
  if (!isMoved) return 'Leave empty to keep it.'
  return name === 'api_key'
    ? 'Needed with another address or option: a stored key is never sent to a new address.'
    : 'Enter it again: options are replaced together.'
}

/** Returns whether the address or the options changed, so that the key would be sent elsewhere. */
function isMovedBy(data: FormData, provider: CatalogProvider, old: Credential): boolean {
  try {
    const change = toCredentialChange(provider, old, name => textOf(data, name))
    return 'base_url' in change || 'options' in change
  } catch {
    // A line of a map is still incomplete.
    return true
  }
}
