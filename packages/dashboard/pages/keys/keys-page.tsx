import { useState } from 'react'
import { getKey, type Key, keysKey, listKeys, type NewKey, stateOf } from '../../api/key-calls.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { useNow } from '../../controls/use-now.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { ChangeKeyDialog } from './change-key-dialog.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { type KeyAction, KeyTable } from './key-table.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { RevealDialog } from './reveal-dialog.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { RollDialog } from './roll-dialog.tsx'

type Open =
  | { readonly dialog: 'create' }
  | { readonly dialog: 'shown'; readonly key: NewKey }
  | { readonly dialog: KeyAction; readonly key: Key }

export function KeysPage() {
  const { environment } = useEnvironment()
  const disabledReason = useDisabledReason('developer')
  const [open, setOpen] = useState<Open>()
  const now = useNow()
  const keys = useList(keysKey(environment.id), cursor => listKeys(environment.id, cursor))
  const usable = keys.items.filter(key => ['active', 'rolling'].includes(stateOf(key, now)))
  const close = (): void => setOpen(undefined)
  const show = (key: NewKey): void => setOpen({ dialog: 'shown', key })
  const createButton = (
    <Button variant="primary" disabledReason={disabledReason} onClick={() => setOpen({ dialog: 'create' })}>
      Create key
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Keys"
        description={
          keys.isSuccess ? toDescription(usable, keys.items.length) : 'Who may call this environment.'
        }
        actions={createButton}
      />
      <ListState
        what="Keys"
        query={keys}
        empty={
          <EmptyState title="No keys yet">
            <p>A key says which environment a call belongs to, and what it may do.</p>
            {createButton}
          </EmptyState>
        }
      >
        <KeyTable
          keys={keys.items}
          now={now}
          disabledReason={disabledReason}
          onDo={(dialog, key) => setOpen({ dialog, key })}
        />
      </ListState>
      {open?.dialog === 'create' && <CreateKeyDialog onClose={close} onDone={show} />}
      {open?.dialog === 'shown' && <NewKeyDialog created={open.key} onClose={close} />}
      {open?.dialog === 'change' && (
        <EditForm record={open.key} read={() => getKey(open.key.id)}>
          {key => <ChangeKeyDialog old={key} onClose={close} />}
        </EditForm>
      )}
      {open?.dialog === 'reveal' && <RevealDialog target={open.key} onClose={close} />}
      {open?.dialog === 'roll' && <RollDialog old={open.key} onClose={close} onDone={show} />}
      {open?.dialog === 'revoke' && <RevokeDialog target={open.key} onClose={close} />}
    </>
  )
}

function toDescription(usable: readonly Key[], all: number): string {
  if (all === 0) return 'Who may call this environment.'
  const unused = usable.filter(({ last_used_at }) => last_used_at === null).length
  const ended = all - usable.length
  return `${[
    `${usable.length} ${usable.length === 1 ? 'key works' : 'keys work'}`,
    ...(unused === 0 ? [] : [`${unused} never used`]),
    ...(ended === 0 ? [] : [`${ended} revoked or expired`]),
  ].join(', ')}.`
}
