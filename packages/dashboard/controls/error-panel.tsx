import { toApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'
import { ConflictError } from './conflict-error.ts'
import { ConflictNotice } from './conflict-notice.tsx'
import { CopyButton } from './copy-button.tsx'

interface ErrorPanelProps {
  /** The subject of the message, such as `Keys` for "Keys could not be loaded." */
  readonly what: string
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

/** Shows what could not be loaded and why, with the request id that the server's log has. */
export function ErrorPanel({ what, error, onRetry }: ErrorPanelProps) {
  const { code, message, status, requestId } = toApiError(error)
  if (status === 404) {
    return (
      <div role="alert" className="notice">
        This does not exist, or you may not see it.
      </div>
    )
  }
  return (
    <div role="alert" className="notice bad">
      <strong>{what} could not be loaded.</strong>
      <span>
        {message} <code>{code}</code>
        {requestId !== undefined && (
          <>
            , request <code>{requestId}</code>
          </>
        )}
      </span>
      <span className="row">
        {onRetry !== undefined && (
          <Button small onClick={onRetry}>
            Try again
          </Button>
        )}
        {requestId !== undefined && <CopyButton text={requestId} label="Copy request id" />}
      </span>
    </div>
  )
}

/** Shows why a form could not be sent. */
export function FormProblem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  if (error instanceof ConflictError)
    return <ConflictNotice key={error.latest.updated_at} latest={error.latest} />
  return <ErrorNotice error={error} />
}

/** Shows an error with its code and its request. */
export function ErrorNotice({ error }: { error: unknown }) {
  const { code, message, requestId } = toApiError(error)
  return (
    <div role="alert" className="notice bad">
      <span>{message}</span>
      <span className="small">
        <code>{code}</code>
        {requestId !== undefined && (
          <>
            {' '}
            · request <code>{requestId}</code>
          </>
        )}
      </span>
    </div>
  )
}
