import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { Edited } from '../../controls/edited.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { Empty, ListState } from '../../controls/list-state.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { useObjection, usePlace } from '../../session/place-context.tsx'
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
  const { environment } = usePlace()
  const objection = useObjection('developer')
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
    <Button look="primary" objection={objection} onClick={() => setAdding(true)}>
      Add provider
    </Button>
  )
  return (
    <>
      <PageHead
        title="Providers"
        answer={
          credentials.isSuccess ? toAnswer(credentials.items) : 'Whose models this environment can call.'
        }
        actions={addButton}
      />
      <FormProblem error={check.error} />
      <ListState
        what="Providers"
        query={credentials}
        empty={
          <Empty title="No provider yet">
            <p>Models answer once there is a key of the company that runs them.</p>
            {addButton}
          </Empty>
        }
      >
        <CredentialTable
          credentials={credentials.items}
          providers={providers.data ?? []}
          objection={objection}
          checkedId={check.isPending ? check.variables : undefined}
          onCheck={({ id }) => check.mutate(id)}
          onChange={setChanged}
          onRemove={setRemoved}
        />
        {credentials.items.every(({ provider }) => provider === 'sandbox') && (
          <Empty title="Ready for a provider">
            <p>The sandbox answers free and calls nobody. Models of a company answer once its key is here.</p>
            <Button objection={objection} onClick={() => setAdding(true)}>
              Add your first provider
            </Button>
          </Empty>
        )}
      </ListState>
      {isAdding && <AddCredentialDialog onClose={() => setAdding(false)} />}
      {changed !== undefined && changedProvider !== undefined && (
        <Edited record={changed} read={() => getCredential(changed.id)}>
          {credential => (
            <ChangeCredentialDialog
              old={credential}
              provider={changedProvider}
              onClose={() => setChanged(undefined)}
            />
          )}
        </Edited>
      )}
      {removed !== undefined && (
        <RemoveCredentialDialog target={removed} onClose={() => setRemoved(undefined)} />
      )}
    </>
  )
}

function toAnswer(credentials: readonly Credential[]): string {
  const real = credentials.filter(({ provider }) => provider !== 'sandbox')
  if (real.length === 0)
    return credentials.length === 0 ? 'No model answers here.' : 'Only the sandbox answers here.'
  const failing = real.filter(({ validation_error }) => validation_error !== null).length
  const count = `${real.length} ${real.length === 1 ? 'key' : 'keys'}`
  return failing === 0 ? `${count}, none known to fail.` : `${count}, ${failing} of them fail.`
}
