import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { ErrorPanel, FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { CredentialInput } from './credential-input.tsx'
import { CredentialOutcome } from './credential-outcome.tsx'
import {
  type CatalogProvider,
  type Credential,
  credentialsKey,
  providersQuery,
  toCredentialBody,
  validateCredential,
} from './provider-calls.ts'

export function AddCredentialDialog({ onClose }: { onClose: () => void }) {
  const providers = useQuery(providersQuery)
  const { environment } = useEnvironment()
  const [created, setCreated] = useState<Credential>()
  return (
    <Dialog title={`Add a provider to ${environment.name}`} variant="drawer" onClose={onClose}>
      {providers.isPending && <Skeleton />}
      {providers.isError && (
        <ErrorPanel what="Providers" error={providers.error} onRetry={() => void providers.refetch()} />
      )}
      {created !== undefined && <CredentialOutcome credential={created} onClose={onClose} />}
      {providers.isSuccess && created === undefined && (
        <CredentialForm
          providers={providers.data.filter(({ sandbox }) => !sandbox)}
          onClose={onClose}
          onDone={setCreated}
        />
      )}
    </Dialog>
  )
}

interface CredentialFormProps {
  readonly providers: readonly CatalogProvider[]
  readonly onClose: () => void
  readonly onDone: (credential: Credential) => void
}

function CredentialForm({ providers, onClose, onDone }: CredentialFormProps) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const [chosenId, setChosenId] = useState('openai')
  const provider = providers.find(({ id }) => id === chosenId) ?? providers[0]
  const form = useForm(
    async data => {
      if (provider === undefined) throw new Error('there is no provider')
      const created = await unwrap(
        api.POST('/v1/environments/{envId}/provider-credentials', {
          params: { path: { envId: environment.id } },
          body: toCredentialBody(provider, name => textOf(data, name)),
        }),
      )
      // The credential is stored even if the provider refuses it.
      return await validateCredential(created.id).catch(() => created)
    },
    credential => {
      void client.invalidateQueries({ queryKey: credentialsKey(environment.id) })
      void client.invalidateQueries({ queryKey: ['gateway-models', environment.id] })
      onDone(credential)
    },
  )
  if (provider === undefined) return null
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <SelectField
        label="Provider"
        value={provider.id}
        onChange={event => setChosenId(event.target.value)}
        data-focus
      >
        {providers.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {/* The key empties the fields when another provider is chosen: a secret must not go to the wrong one. */}
      <div className="form" key={provider.id}>
        <TextField
          label="Name"
          name="name"
          required
          defaultValue={provider.name}
          problem={form.problemOf('name')}
        />
        {provider.credential_fields.map(field => (
          <CredentialInput
            key={field.name}
            field={field}
            keysUrl={field.name === 'api_key' ? provider.keys_url : null}
            providerName={provider.name}
            problem={form.problemOf(field.name)}
          />
        ))}
      </div>
      <FormProblem error={form.error} />
      <div className="form-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" isPending={form.isPending}>
          {form.isPending ? 'Checking with the provider…' : 'Add and check'}
        </Button>
      </div>
    </form>
  )
}
