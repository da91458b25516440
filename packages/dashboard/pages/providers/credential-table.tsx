import { MenuItem } from '../../controls/menu.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useEnvironment } from '../../session/environment-context.tsx'
import { type CatalogProvider, type Credential, findCatalogProvider } from './provider-calls.ts'

interface CredentialTableProps {
  readonly credentials: readonly Credential[]
  readonly providers: readonly CatalogProvider[]
  readonly disabledReason: string | undefined
  /** The credential that is being checked now. */
  readonly checkedId: string | undefined
  readonly onCheck: (credential: Credential) => void
  readonly onChange: (credential: Credential) => void
  readonly onRemove: (credential: Credential) => void
}

export function CredentialTable(props: CredentialTableProps) {
  const { credentials, providers, disabledReason, checkedId, onCheck, onChange, onRemove } = props
  const { time_zone: timeZone } = useEnvironment().organization
  const nameOf = (id: string): string => providers.find(provider => provider.id === id)?.name ?? id
  return (
    <ScrollableTable label="Provider keys">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className="wide-only">
            Provider
          </th>
          <th scope="col">State</th>
          <th scope="col" className="wide-only">
            Fingerprint
          </th>
          <th scope="col" className="wide-only">
            Checked
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {credentials.map(credential => (
          <tr key={credential.id}>
            <td className="name">{credential.name}</td>
            <td className="wide-only">{nameOf(credential.provider)}</td>
            <td>
              <CredentialState credential={credential} isChecking={checkedId === credential.id} />
            </td>
            <td className="wide-only">
              <code className="muted">{credential.key_fingerprint}</code>
            </td>
            <td className="wide-only">
              <TimeAgo at={credential.last_validated_at} timeZone={timeZone} />
            </td>
            <td className="number">
              <RowActions name={credential.name} disabledReason={disabledReason}>
                <MenuItem onSelect={() => onCheck(credential)}>Check now</MenuItem>
                {findCatalogProvider(providers, credential.provider) !== undefined && (
                  <MenuItem onSelect={() => onChange(credential)}>Change…</MenuItem>
                )}
                <MenuItem isDanger onSelect={() => onRemove(credential)}>
                  Remove…
                </MenuItem>
              </RowActions>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}

function CredentialState({ credential, isChecking }: { credential: Credential; isChecking: boolean }) {
  if (isChecking) return <span className="chip">checking…</span>
  if (credential.provider === 'sandbox') return <span className="chip good">always answers</span>
  if (credential.validation_error !== null) {
    return (
      <span className="row">
        <span className="chip bad">fails</span>
        <span className="small muted truncate reason" title={credential.validation_error}>
          {credential.validation_error}
        </span>
      </span>
    )
  }
  return credential.last_validated_at === null ? (
    <span className="chip">not checked</span>
  ) : (
    <span className="chip good">valid</span>
  )
}
