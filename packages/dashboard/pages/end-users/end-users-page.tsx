import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { toApiError } from '../../api/api-error.ts'
import { useList } from '../../api/use-list.ts'
import { toParams } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { RemoveDialog } from '../../controls/remove-dialog.tsx'
import { textOf } from '../../controls/use-form.ts'
import { toCount } from '../../format/amounts.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import {
  blockEndUser,
  type EndUser,
  endUsersKey,
  findDefaultPlan,
  listEndUsers,
  planChoicesQuery,
  unblockEndUser,
} from './end-user-calls.ts'
import { EndUserTable } from './end-user-table.tsx'
import { PlanChoiceDialog } from './plan-choice-dialog.tsx'

type Open = { readonly dialog: 'plan' | 'block'; readonly endUser: EndUser }

export function EndUsersPage() {
  const current = useEnvironment()
  const envId = current.environment.id
  const { q, blocked } = useSearch({ from: '/signed-in/o/$org/$project/$environment/end-users' })
  const filter = { ...(q === undefined ? {} : { q }), ...(blocked === undefined ? {} : { blocked }) }
  const navigate = useNavigate()
  const client = useQueryClient()
  const disabledReason = useDisabledReason('developer')
  const [open, setOpen] = useState<Open>()
  const list = useList([...endUsersKey(envId), filter], cursor => listEndUsers(envId, filter, cursor))
  const plans = useQuery({ ...planChoicesQuery(envId), meta: { isQuiet: true } })
  const refresh = (): void => void client.invalidateQueries({ queryKey: endUsersKey(envId) })
  const unblock = useMutation({ mutationFn: unblockEndUser, onSettled: refresh })
  const isFiltered = q !== undefined || blocked !== undefined
  const search = (next: { q?: string; blocked?: 'true' }): void =>
    void navigate({
      to: '/o/$org/$project/$environment/end-users',
      params: toParams(current),
      search: next,
    })
  return (
    <>
      <PageHeader
        title="End users"
        description={
          list.isSuccess
            ? toDescription(list.items.length, list.hasNextPage, isFiltered)
            : 'Who uses your app, and what does each user cost?'
        }
      />
      <FindForm key={JSON.stringify(filter)} filter={filter} onSearch={search} />
      <FormProblem error={unblock.error === null ? undefined : toApiError(unblock.error)} />
      <ListState
        what="End users"
        query={list}
        empty={
          isFiltered ? (
            <EmptyState title="No end user matches">
              <Button onClick={() => search({})}>Clear all</Button>
            </EmptyState>
          ) : (
            <EmptyState title="No end users yet">
              <p>End users appear with their first token or request.</p>
            </EmptyState>
          )
        }
      >
        <EndUserTable
          endUsers={list.items}
          defaultPlan={findDefaultPlan(plans.data?.data ?? [])?.name}
          disabledReason={disabledReason}
          onPlan={endUser => setOpen({ dialog: 'plan', endUser })}
          onBlock={endUser => setOpen({ dialog: 'block', endUser })}
          onUnblock={({ id }) => unblock.mutate(id)}
        />
      </ListState>
      {open?.dialog === 'plan' && (
        <PlanChoiceDialog endUser={open.endUser} onClose={() => setOpen(undefined)} />
      )}
      {open?.dialog === 'block' && (
        <RemoveDialog
          title={`Block ${open.endUser.external_id}`}
          verb="Block"
          effect="Their requests are refused, and live tokens stop working within a second. You can unblock them at any time."
          remove={() => blockEndUser(open.endUser.id)}
          onDone={refresh}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

interface Filter {
  readonly q?: string
  readonly blocked?: 'true'
}

function FindForm({ filter, onSearch }: { filter: Filter; onSearch: (filter: Filter) => void }) {
  const apply = (form: HTMLFormElement): void => {
    const data = new FormData(form)
    onSearch({
      ...(textOf(data, 'q') === '' ? {} : { q: textOf(data, 'q') }),
      ...(textOf(data, 'blocked') === 'true' ? { blocked: 'true' as const } : {}),
    })
  }
  return (
    <form
      className="filters"
      role="search"
      aria-label="Find end users"
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault()
        apply(event.currentTarget)
      }}
      onChange={event => {
        if (event.target instanceof HTMLSelectElement) apply(event.currentTarget)
      }}
    >
      <TextField
        label="Name begins with"
        name="q"
        type="search"
        maxLength={255}
        defaultValue={filter.q ?? ''}
      />
      <SelectField label="State" name="blocked" defaultValue={filter.blocked ?? ''}>
        <option value="">Any</option>
        <option value="true">Blocked</option>
      </SelectField>
      <Button type="submit">Search</Button>
    </form>
  )
}

function toDescription(count: number, hasMore: boolean, isFiltered: boolean): string {
  const shown = `${toCount(count)}${hasMore ? '+' : ''} end ${count === 1 ? 'user' : 'users'}`
  return isFiltered ? `${shown} that ${count === 1 ? 'matches' : 'match'}.` : `${shown}, newest first.`
}
