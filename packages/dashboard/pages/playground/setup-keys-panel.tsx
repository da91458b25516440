import { useEffect } from 'react'
import { Button } from '../../controls/button.tsx'
import { CopyButton } from '../../controls/copy-button.tsx'
import { useEnvironment, useWorkspace } from '../../session/environment-context.tsx'
import { useSetupKeys } from '../../session/setup-keys.ts'
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx'
import { maskKey, toSnippets } from '../../snippets/snippets.ts'
import { SANDBOX_MODEL } from './draft.ts'

/** Shows the two keys of the set-up once, with code that uses them. */
export function SetupKeysPanel() {
  const { keys, forget } = useSetupKeys()
  const { gateway_url: gatewayUrl, prefixes } = useWorkspace()
  const { environment } = useEnvironment()
  useEffect(() => {
    if (keys === undefined) return
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [keys])
  if (keys === undefined) return null
  const input = { gatewayUrl, prefixes, model: SANDBOX_MODEL, prompt: 'Hello' }
  return (
    <section className="panel" aria-labelledby="from-code">
      <header>
        <h2 id="from-code">Use it from code</h2>
        <Button small onClick={forget}>
          I have saved both keys
        </Button>
      </header>
      <div className="stack padded">
        <p>The set-up created two keys. This is the only time they are shown.</p>
        <div className="secret">
          <span>
            Secret key for the gateway, development
            <br />
            <code>{maskKey(keys.secretKey)}</code>
          </span>
          <CopyButton text={keys.secretKey} label="Copy secret key" />
        </div>
        <div className="secret">
          <span>
            Management key for this API, admin
            <br />
            <code>{maskKey(keys.managementKey)}</code>
          </span>
          <CopyButton text={keys.managementKey} label="Copy management key" />
        </div>
        <div className="secret">
          <span>
            Environment id, which the API’s addresses name
            <br />
            <code>{environment.id}</code>
          </span>
          <CopyButton text={environment.id} label="Copy environment id" />
        </div>
        <SnippetTabs
          snippets={toSnippets({ ...input, key: keys.secretKey })}
          shown={toSnippets({ ...input, key: maskKey(keys.secretKey) })}
        />
      </div>
    </section>
  )
}
