import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { toParams } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { toCount } from '../../format/amounts.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { useGateway } from '../../session/use-gateway.ts'
import type { Credential } from './provider-calls.ts'

/** Shows whether the provider accepted a key that was just added or changed. */
export function CredentialOutcome({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const current = useEnvironment()
  const gateway = useGateway()
  const isValid = credential.validation_error === null && credential.last_validated_at !== null
  const models = useQuery({
    queryKey: ['gateway-models', current.environment.id, credential.id],
    queryFn: () => gateway.listModels(),
    enabled: isValid,
  })
  const count = models.data?.filter(({ provider }) => provider === credential.provider).length
  return (
    <div className="stack">
      {isValid ? (
        <div className="notice good" role="status">
          <strong>Valid.</strong>
          {count !== undefined && <span>{toCount(count)} of its models can be called here.</span>}
        </div>
      ) : (
        <div className="notice bad" role="alert">
          <strong>
            {credential.validation_error === null ? 'Not checked.' : 'The provider refused it.'}
          </strong>
          <span>
            {credential.validation_error ?? 'The provider could not be reached. Check again later.'}
          </span>
          <span>The key is stored. Change it, or check it again, from its menu.</span>
        </div>
      )}
      <div className="form-end">
        {isValid && (
          <Link className="button" to="/o/$org/$project/$environment/playground" params={toParams(current)}>
            Try it in the playground
          </Link>
        )}
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
