import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api, unwrap } from '../../api/client.ts'
import type { Key } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { CopyButton } from '../../controls/copy-button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'

/** Shows a publishable key again. It is not cached, but loaded each time the dialog opens. */
export function RevealDialog({ target, onClose }: { target: Key; onClose: () => void }) {
  const shown = useRef<HTMLElement>(null)
  const { mutate, data, error } = useMutation({
    mutationFn: (keyId: string) =>
      unwrap(api.POST('/v1/keys/{keyId}/reveal', { params: { path: { keyId } } })),
    gcTime: 0,
  })
  useEffect(() => mutate(target.id), [mutate, target.id])
  return (
    <Dialog title={target.name} onClose={onClose}>
      <p>A publishable key is safe to include in an app or a page: on its own it gives no access.</p>
      {error !== null && <ErrorPanel what="The key" error={error} onRetry={() => mutate(target.id)} />}
      {data === undefined && error === null && <Skeleton rows={1} />}
      {data !== undefined && (
        <div className="secret">
          <code ref={shown} data-testid="key">
            {data.key}
          </code>
          <CopyButton text={data.key} label="Copy key" variant="primary" shown={shown} />
        </div>
      )}
      <div className="form-end">
        <Button onClick={onClose} data-focus>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
