import { useQuery } from '@tanstack/react-query'
import type { NewKey } from '../../api/key-calls.ts'
import { SecretDialog } from '../../controls/secret-dialog.tsx'
import { toDateTime } from '../../format/times.ts'
import { useEnvironment, useWorkspace } from '../../session/environment-context.tsx'
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx'
import { maskKey, toBrowserSnippet, toSnippets } from '../../snippets/snippets.ts'
import { listLogs } from '../logs/log-calls.ts'

const POLL_MS = 2_000

/** Shows a new key for the only time, with code that uses it and whether it has been used. */
export function NewKeyDialog({ created, onClose }: { created: NewKey; onClose: () => void }) {
  const { gateway_url: gatewayUrl, prefixes } = useWorkspace()
  const { environment } = useEnvironment()
  const model = environment.name === 'development' ? 'sandbox/echo' : 'openai/gpt-4o-mini'
  const snippetsFor = (key: string) => {
    const input = { gatewayUrl, prefixes, key, model, prompt: 'Hello' }
    return created.kind === 'secret' ? toSnippets(input) : [toBrowserSnippet(input)]
  }
  return (
    <SecretDialog
      title={`${created.name} is ready`}
      text="This is the only time the key is shown. Copy it now and store it with your secrets."
      secret={created.key}
      noun="key"
      ifLost="If it is lost, roll it to get another one."
      variant="wide"
      onClose={onClose}
    >
      <SnippetTabs snippets={snippetsFor(created.key)} shown={snippetsFor(maskKey(created.key))} />
      {created.kind === 'secret' && <FirstUse keyId={created.id} />}
    </SecretDialog>
  )
}

function FirstUse({ keyId }: { keyId: string }) {
  const { organization, environment } = useEnvironment()
  const { time_zone: timeZone } = organization
  const { data } = useQuery({
    queryKey: ['first-use', keyId],
    // The log has a request at once; the key's own last_used_at is written a minute later.
    queryFn: () => listLogs(environment.id, { key_id: keyId, limit: '1' }),
    meta: { isQuiet: true },
    // Stops polling after a failure, and once the first request has been found.
    refetchInterval: ({ state }) =>
      state.error !== null || state.data?.data[0] !== undefined ? false : POLL_MS,
  })
  const usedAt = data?.data[0]?.created_at ?? null
  return (
    <p role="status" className={usedAt === null ? 'muted' : undefined}>
      {usedAt === null
        ? 'Waiting for the first request…'
        : `Received at ${toDateTime(Date.parse(usedAt), timeZone).split(', ')[1]}.`}
    </p>
  )
}
