import { useNavigate, useSearch } from '@tanstack/react-router'
import { api, unwrap } from '../../api/client.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { TextField } from '../../controls/field.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { textOf } from '../../controls/use-form.ts'
import { useOrganization } from '../../session/environment-context.tsx'
import { AuditEntries } from './audit-entries.tsx'
import { type AuditSearch, parseAuditSearch } from './audit-search.ts'

export function AuditLogPage() {
  const organization = useOrganization()
  // useSearch also returns parameters that the API does not know.
  const search = parseAuditSearch({ ...useSearch({ from: '/signed-in/o/$org/audit-log' }) })
  const navigate = useNavigate()
  const entries = useList(['audit-log', organization.id, search], cursor =>
    unwrap(
      api.GET('/v1/orgs/{orgId}/audit-log', {
        params: {
          path: { orgId: organization.id },
          query: { ...search, limit: 50, ...(cursor === undefined ? {} : { cursor }) },
        },
      }),
    ),
  )
  const show = (next: AuditSearch): void =>
    void navigate({ to: '/o/$org/audit-log', params: { org: organization.slug }, search: next })
  const hasFilter = Object.keys(search).length > 0
  return (
    <>
      <PageHeader
        title="Audit log"
        description={`Who changed what, and from where. Times in ${organization.time_zone}.`}
      />
      <form
        className="filter-line"
        key={search.operation ?? ''}
        onSubmit={event => {
          event.preventDefault()
          const operation = textOf(new FormData(event.currentTarget), 'operation')
          const { operation: _, ...others } = search
          show(operation === '' ? others : { ...others, operation })
        }}
      >
        <TextField
          label="Operation"
          name="operation"
          defaultValue={search.operation}
          placeholder="keys.create"
        />
        <Button type="submit">Filter</Button>
        {search.actor_id !== undefined && <span className="chip">one actor</span>}
        {search.resource_id !== undefined && <span className="chip">one resource</span>}
        {hasFilter && (
          <Button variant="quiet" onClick={() => show({})}>
            Clear all
          </Button>
        )}
      </form>
      <ListState
        what="Entries"
        query={entries}
        empty={
          <EmptyState title={hasFilter ? 'No entry matches' : 'No entries yet'}>
            {hasFilter && <Button onClick={() => show({})}>Clear all</Button>}
          </EmptyState>
        }
      >
        <AuditEntries entries={entries.items} search={search} onFilter={show} />
      </ListState>
    </>
  )
}
