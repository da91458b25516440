import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { AddCredentialDialog } from './add-credential-dialog.tsx'
import { ChangeCredentialDialog } from './change-credential-dialog.tsx'
import { CredentialTable } from './credential-table.tsx'
import {
  type Credential,
  credentialsKey,
  findCatalogProvider,
  getCredential,
  listCredentials,
  providersQuery,
  validateCredential,
} from './provider-calls.ts'
import { RemoveCredentialDialog } from './remove-credential-dialog.tsx'

export function ProvidersPage() {
  const { environment } = useEnvironment()
  const disabledReason = useDisabledReason('developer')
  const client = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const [changed, setChanged] = useState<Credential>()
  const [removed, setRemoved] = useState<Credential>()
  const queryKey = credentialsKey(environment.id)
  const credentials = useList(queryKey, cursor => listCredentials(environment.id, cursor))
  const providers = useQuery(providersQuery)
  const check = useMutation({
    mutationFn: validateCredential,
    onSettled: () => client.invalidateQueries({ queryKey }),
  })
  const changedProvider = findCatalogProvider(providers.data ?? [], changed?.provider ?? '')
  const addButton = (
    <Button variant="primary" disabledReason={disabledReason} onClick={() => setAdding(true)}>
      Add provider
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Providers"
        description={
          credentials.isSuccess ? toDescription(credentials.items) : 'Whose models this environment can call.'
        }
        actions={addButton}
      />
      <FormProblem error={check.error} />
      <ListState
        what="Providers"
        query={credentials}
        empty={
          <EmptyState title="No provider yet">
            <p>Add the key of a provider to call its models.</p>
            {addButton}
          </EmptyState>
        }
      >
        <CredentialTable
          credentials={credentials.items}
          providers={providers.data ?? []}
          disabledReason={disabledReason}
          checkedId={check.isPending ? check.variables : undefined}
          onCheck={({ id }) => check.mutate(id)}
          onChange={setChanged}
          onRemove={setRemoved}
        />
        {credentials.items.every(({ provider }) => provider === 'sandbox') && (
          <EmptyState title="Ready for a provider">
            <p>The sandbox is free and calls no provider. Add the key of a provider to call its models.</p>
            <Button disabledReason={disabledReason} onClick={() => setAdding(true)}>
              Add your first provider
            </Button>
          </EmptyState>
        )}
      </ListState>
      {isAdding && <AddCredentialDialog onClose={() => setAdding(false)} />}
      {changed !== undefined && changedProvider !== undefined && (
        <EditForm record={changed} read={() => getCredential(changed.id)}>
          {credential => (
            <ChangeCredentialDialog
              old={credential}
              provider={changedProvider}
              onClose={() => setChanged(undefined)}
            />
          )}
        </EditForm>
      )}
      {removed !== undefined && (
        <RemoveCredentialDialog target={removed} onClose={() => setRemoved(undefined)} />
      )}
    </>
  )
}

function toDescription(credentials: readonly Credential[]): string {
  const real = credentials.filter(({ provider }) => provider !== 'sandbox')
  if (real.length === 0)
    return credentials.length === 0 ? 'No models can be called yet.' : 'Only the sandbox can be called yet.'
  const failing = real.filter(({ validation_error }) => validation_error !== null).length
  const count = `${real.length} ${real.length === 1 ? 'key' : 'keys'}`
  return failing === 0
    ? `${count}, none known to fail.`
    : `${count}, ${failing} of them ${failing === 1 ? 'fails' : 'fail'}.`
}
