import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import { Composer } from './composer.tsx'
import { type Draft, readDraft, storeDraft } from './draft.ts'
import { DraftSettings } from './draft-settings.tsx'
import './playground.css'
import { SetupKeysPanel } from './setup-keys-panel.tsx'
import { TurnView } from './turn-view.tsx'
import { useConversation } from './use-conversation.ts'
import { useGateway } from '../../session/use-gateway.ts'

export function PlaygroundPage() {
  const { environment } = usePlace()
  const objection = useObjection('developer')
  const gateway = useGateway()
  const conversation = useConversation(gateway)
  const [draft, setDraft] = useState(() => readDraft(environment.id))
  const models = useQuery({
    queryKey: ['gateway-models', environment.id],
    queryFn: () => gateway.listModels(),
    enabled: objection === undefined,
  })
  useEffect(() => storeDraft(environment.id, draft), [environment.id, draft])
  const change = (changes: Partial<Draft>): void => setDraft({ ...draft, ...changes })
  const send = (): void => {
    if (objection !== undefined || conversation.isRunning || draft.prompt.trim() === '') return
    conversation.send(draft)
    change({ prompt: '' })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
    if (event.key === 'Escape' && conversation.isRunning) conversation.stop()
  }
  const isSandbox = draft.model.startsWith('sandbox/')
  return (
    <>
      <PageHead
        title="Playground"
        answer={
          isSandbox
            ? 'The sandbox answers without calling anybody, and for free.'
            : 'Real requests of this environment: its limits apply, and Logs has them.'
        }
        actions={
          conversation.turns.length > 0 && (
            <Button small onClick={conversation.clear}>
              Start over
            </Button>
          )
        }
      />
      <div className="playground" onKeyDown={onKeyDown} role="presentation">
        <section className="panel conversation" aria-label="Conversation">
          {conversation.turns.length === 0 && (
            <p className="waiting">Send the prompt below. The answer is streamed here.</p>
          )}
          <ol className="turns" aria-label="Messages" hidden={conversation.turns.length === 0}>
            {conversation.turns.map((turn, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added at the end.
              <TurnView key={index} turn={turn} />
            ))}
          </ol>
          <Composer
            prompt={draft.prompt}
            onChange={text => change({ prompt: text })}
            onSend={send}
            onStop={conversation.stop}
            isRunning={conversation.isRunning}
            objection={objection}
          />
        </section>
        <div className="stack">
          {models.isError && (
            <ErrorPanel what="Models" error={models.error} onRetry={() => void models.refetch()} />
          )}
          <DraftSettings draft={draft} models={models.data ?? []} onChange={change} />
        </div>
      </div>
      <SetupKeysPanel />
    </>
  )
}
