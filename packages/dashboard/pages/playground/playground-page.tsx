import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { AreaField } from '../../controls/field.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { useObjection, usePlace } from '../../session/place-context.tsx'
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
  const prompt = useRef<HTMLTextAreaElement>(null)
  const models = useQuery({
    queryKey: ['gateway-models', environment.id],
    queryFn: () => gateway.listModels(),
    enabled: objection === undefined,
  })
  useEffect(() => storeDraft(environment.id, draft), [environment.id, draft])
  useEffect(() => prompt.current?.focus(), [])
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
          <ol className="turns" aria-label="Messages">
            {conversation.turns.map((turn, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added at the end.
              <TurnView key={index} turn={turn} />
            ))}
          </ol>
          <form
            className="composer"
            onSubmit={event => {
              event.preventDefault()
              send()
            }}
          >
            <AreaField
              label="Prompt"
              ref={prompt}
              rows={3}
              value={draft.prompt}
              onChange={event => change({ prompt: event.target.value })}
            />
            <div className="row">
              <Button type="submit" look="primary" objection={objection} isPending={conversation.isRunning}>
                Send
              </Button>
              {conversation.isRunning && <Button onClick={conversation.stop}>Stop</Button>}
              <span className="small muted keys-hint">
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends, <kbd>Esc</kbd> stops
              </span>
            </div>
          </form>
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
