import type { Resource } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { DiffTable } from '../../controls/diff-table.tsx'
import { toDateTime } from '../../format/times.ts'
import { toDiff } from '../../format/to-diff.ts'
import { useOrganization } from '../../session/environment-context.tsx'
import type { AuditSearch } from './audit-search.ts'
import './audit-log.css'

type Entry = Resource<'AuditEntry'>

interface AuditEntriesProps {
  readonly entries: readonly Entry[]
  readonly search: AuditSearch
  readonly onFilter: (search: AuditSearch) => void
}

/** Lists the entries. Each one opens to show what it changed. */
export function AuditEntries({ entries, search, onFilter }: AuditEntriesProps) {
  const { time_zone: timeZone } = useOrganization()
  return (
    <ul className="entries" aria-label="Entries">
      {entries.map(entry => (
        <li key={entry.id}>
          <details>
            <summary>
              <time dateTime={entry.created_at} className="muted">
                {toDateTime(Date.parse(entry.created_at), timeZone)}
              </time>
              <strong>{entry.operation}</strong>
              <span className="truncate">{nameOfResource(entry)}</span>
              <span className="truncate muted">{actorOf(entry)}</span>
            </summary>
            <div className="stack entry">
              <p className="small muted">
                {entry.client_address !== '' && <>From {entry.client_address}. </>}
                Request <code>{entry.request_id}</code>
                {entry.resource.id !== null && (
                  <>
                    , {entry.resource.kind} <code>{entry.resource.id}</code>
                  </>
                )}
              </p>
              <DiffTable differences={toDiff(entry.before, entry.after)} />
              <p className="row">
                {entry.actor.id !== null && (
                  <Button small onClick={() => onFilter({ ...search, actor_id: entry.actor.id ?? '' })}>
                    Only this actor
                  </Button>
                )}
                {entry.resource.id !== null && (
                  <Button small onClick={() => onFilter({ ...search, resource_id: entry.resource.id ?? '' })}>
                    Only this resource
                  </Button>
                )}
              </p>
            </div>
          </details>
        </li>
      ))}
    </ul>
  )
}

/** Returns what people call the changed record; undefined if it has no name. */
function nameOfResource({ before, after }: Entry): string | undefined {
  const record = new Map([before, after].flatMap(side => Object.entries(side ?? {})))
  return NAME_FIELDS.map(field => record.get(field)).find(value => typeof value === 'string')
}

/** The fields that name records of the kinds that have a name. */
const NAME_FIELDS = ['name', 'alias', 'model', 'external_id', 'invite_email', 'email', 'url'] as const

function actorOf({ actor }: Entry): string {
  if (actor.kind === 'system') return 'Rideau itself'
  return actor.kind === 'management_key'
    ? `management key ${actor.name ?? ''}`
    : (actor.name ?? 'not signed in')
}
