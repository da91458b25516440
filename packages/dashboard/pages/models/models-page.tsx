import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { findById, useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { RemoveDialog } from '../../controls/remove-dialog.tsx'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { AliasDialog } from './alias-dialog.tsx'
import { AliasTable } from './alias-table.tsx'
import { CatalogPanel } from './catalog-panel.tsx'
import { CustomModelDialog } from './custom-model-dialog.tsx'
import { CustomModelTable } from './custom-model-table.tsx'
import {
  type Alias,
  aliasesKey,
  CAPABILITIES,
  type Capability,
  type CustomModel,
  customModelsKey,
  getAlias,
  listAliases,
  listCatalog,
  listCustomModels,
} from './model-calls.ts'
import './models.css'

type Open =
  | { readonly dialog: 'alias'; readonly alias: Alias | undefined }
  | { readonly dialog: 'remove-alias'; readonly alias: Alias }
  | { readonly dialog: 'model'; readonly model: CustomModel | undefined }
  | { readonly dialog: 'remove-model'; readonly model: CustomModel }

export function ModelsPage() {
  const { environment } = useEnvironment()
  const { q, can } = useSearch({ from: '/signed-in/o/$org/$project/$environment/models' })
  const disabledReason = useDisabledReason('developer')
  const [open, setOpen] = useState<Open>()
  const aliases = useList(aliasesKey(environment.id), cursor => listAliases(environment.id, cursor))
  const own = useList(customModelsKey(environment.id), cursor => listCustomModels(environment.id, cursor))
  const close = (): void => setOpen(undefined)
  const create = (): void => setOpen({ dialog: 'alias', alias: undefined })
  const addModel = (
    <Button disabledReason={disabledReason} onClick={() => setOpen({ dialog: 'model', model: undefined })}>
      Add a model
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Models"
        description="Which model names requests may use, and what answers them."
        actions={
          <Button variant="primary" disabledReason={disabledReason} onClick={create}>
            Create alias
          </Button>
        }
      />
      <section className="stack" aria-labelledby="aliases">
        <h2 id="aliases">Aliases</h2>
        <ListState
          what="Aliases"
          query={aliases}
          empty={
            <EmptyState title="No aliases yet">
              <p>Your own name for one or more models: switch models without changing an app.</p>
              <Button disabledReason={disabledReason} onClick={create}>
                Create your first alias
              </Button>
            </EmptyState>
          }
        >
          <AliasTable
            aliases={aliases.items}
            disabledReason={disabledReason}
            onChange={alias => setOpen({ dialog: 'alias', alias })}
            onRemove={alias => setOpen({ dialog: 'remove-alias', alias })}
          />
        </ListState>
      </section>
      <CatalogPanel
        q={q}
        can={can !== undefined && Object.hasOwn(CAPABILITIES, can) ? (can as Capability) : undefined}
      />
      <section className="stack" aria-labelledby="own-models">
        <div className="row">
          <h2 id="own-models">Your own models and prices</h2>
          {own.items.length > 0 && addModel}
        </div>
        <ListState
          what="Your own models"
          query={own}
          empty={
            <EmptyState title="No models of your own">
              <p>
                For a fine-tune, a model that is not in the catalogue yet, or a price that you negotiated.
              </p>
              {addModel}
            </EmptyState>
          }
        >
          <CustomModelTable
            models={own.items}
            disabledReason={disabledReason}
            onChange={model => setOpen({ dialog: 'model', model })}
            onRemove={model => setOpen({ dialog: 'remove-model', model })}
          />
        </ListState>
      </section>
      {open !== undefined && <OpenDialog open={open} onClose={close} />}
    </>
  )
}

function OpenDialog({ open, onClose }: { open: Open; onClose: () => void }) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const names = useQuery({
    queryKey: ['catalog-names', environment.id],
    queryFn: () => listCatalog(environment.id, { capability: 'chat', limit: 100 }),
  })
  return (
    <>
      {open.dialog === 'alias' && open.alias === undefined && (
        <AliasDialog alias={undefined} models={names.data?.data ?? []} onClose={onClose} />
      )}
      {open.dialog === 'alias' && open.alias !== undefined && (
        <EditForm record={open.alias} read={() => getAlias(open.alias?.id ?? '')}>
          {alias => <AliasDialog alias={alias} models={names.data?.data ?? []} onClose={onClose} />}
        </EditForm>
      )}
      {open.dialog === 'remove-alias' && (
        <RemoveDialog
          title={`Remove ${open.alias.alias}`}
          effect={`Requests that name ${open.alias.alias} fail from now on.`}
          remove={() =>
            unwrap(api.DELETE('/v1/model-aliases/{id}', { params: { path: { id: open.alias.id } } }))
          }
          onDone={() => void client.invalidateQueries({ queryKey: aliasesKey(environment.id) })}
          onClose={onClose}
        />
      )}
      {open.dialog === 'model' && open.model === undefined && <CustomModelDialog onClose={onClose} />}
      {open.dialog === 'model' && open.model !== undefined && (
        <EditForm
          record={open.model}
          read={() => findById(cursor => listCustomModels(environment.id, cursor), open.model?.id ?? '')}
        >
          {model => <CustomModelDialog model={model} onClose={onClose} />}
        </EditForm>
      )}
      {open.dialog === 'remove-model' && (
        <RemoveDialog
          title={`Remove ${open.model.model}`}
          effect="The catalogue's price and capabilities apply again, if it has the model."
          remove={() =>
            unwrap(api.DELETE('/v1/custom-models/{id}', { params: { path: { id: open.model.id } } }))
          }
          onDone={() => void client.invalidateQueries({ queryKey: customModelsKey(environment.id) })}
          onClose={onClose}
        />
      )}
    </>
  )
}
