import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { Composer } from './composer.tsx'
import type { Draft } from './draft.ts'
import { DraftSettings } from './draft-settings.tsx'
import { readDraft, storeDraft } from './draft-storage.ts'
import { ImageField } from './image-field.tsx'
import './playground.css'
import { useGateway } from '../../session/use-gateway.ts'
import { SetupKeysPanel } from './setup-keys-panel.tsx'
import { findDraftProblem, type ToolResult } from './to-chat-params.ts'
import { TurnView } from './turn-view.tsx'
import { type Turn, useConversation } from './use-conversation.ts'

const SANDBOX_TEXT = 'The sandbox is free and calls no provider.'
const PROVIDER_TEXT = 'Real requests in this environment: its limits apply, and Logs shows them.'

export function PlaygroundPage() {
  const { environment } = useEnvironment()
  const disabledReason = useDisabledReason('developer')
  const gateway = useGateway()
  const conversation = useConversation(gateway)
  const other = useConversation(gateway)
  const [images, setImages] = useState<readonly string[]>([])
  const [draft, setDraft] = useState(() => readDraft(environment.id))
  const models = useQuery({
    queryKey: ['gateway-models', environment.id],
    queryFn: () => gateway.listModels(),
    enabled: disabledReason === undefined,
  })
  useEffect(() => storeDraft(environment.id, draft), [environment.id, draft])
  const change = (changes: Partial<Draft>): void => setDraft({ ...draft, ...changes })
  const isRunning = conversation.isRunning || other.isRunning
  const send = (): void => {
    const isReady = draft.prompt.trim() !== '' && findDraftProblem(draft) === undefined
    if (disabledReason !== undefined || isRunning || !isReady) return
    conversation.send(draft, images)
    if (draft.otherModel !== '') other.send({ ...draft, model: draft.otherModel }, images)
    change({ prompt: '' })
    setImages([])
  }
  const stop = (): void => {
    conversation.stop()
    other.stop()
  }
  const clear = (): void => {
    conversation.clear()
    other.clear()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
    if (event.key === 'Escape' && isRunning) stop()
  }
  return (
    <>
      <PageHeader
        title="Playground"
        description={draft.model.startsWith('sandbox/') ? SANDBOX_TEXT : PROVIDER_TEXT}
        actions={
          conversation.turns.length > 0 && (
            <Button small onClick={clear}>
              Start over
            </Button>
          )
        }
      />
      <div className="playground" onKeyDown={onKeyDown} role="presentation">
        <section className="panel conversation" aria-label="Conversation">
          <Answers
            turns={conversation.turns}
            otherModel={draft.otherModel}
            otherTurns={other.turns}
            onResults={results => conversation.sendToolResults(draft, results)}
            onOtherResults={results => other.sendToolResults({ ...draft, model: draft.otherModel }, results)}
          />
          <Composer
            prompt={draft.prompt}
            onChange={text => change({ prompt: text })}
            onSend={send}
            onStop={stop}
            isRunning={isRunning}
            disabledReason={disabledReason}
          >
            <ImageField images={images} onChange={setImages} />
          </Composer>
        </section>
        <div className="stack">
          {models.isError && (
            <ErrorPanel what="Models" error={models.error} onRetry={() => void models.refetch()} />
          )}
          <DraftSettings draft={draft} images={images} models={models.data ?? []} onChange={change} />
        </div>
      </div>
      <SetupKeysPanel />
    </>
  )
}

interface AnswersProps {
  readonly turns: readonly Turn[]
  readonly otherModel: string
  readonly otherTurns: readonly Turn[]
  readonly onResults: (results: readonly ToolResult[]) => void
  readonly onOtherResults: (results: readonly ToolResult[]) => void
}

function Answers({ turns, otherModel, otherTurns, onResults, onOtherResults }: AnswersProps) {
  const isCompared = otherModel !== ''
  return (
    <div>
      {turns.length === 0 && (
        <p className="empty-conversation">Send the prompt below. The answer is streamed here.</p>
      )}
      <div className={isCompared ? 'compared' : undefined} hidden={turns.length === 0}>
        <Turns label="Messages" turns={turns} onResults={onResults} />
        {isCompared && (
          <Turns label={`Messages of ${otherModel}`} turns={otherTurns} onResults={onOtherResults} />
        )}
      </div>
    </div>
  )
}

interface TurnsProps {
  readonly label: string
  readonly turns: readonly Turn[]
  readonly onResults: (results: readonly ToolResult[]) => void
}

function Turns({ label, turns, onResults }: TurnsProps) {
  return (
    <ol className="turns" aria-label={label}>
      {turns.map((turn, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added at the end.
        <TurnView key={index} turn={turn} onResults={index === turns.length - 1 ? onResults : undefined} />
      ))}
    </ol>
  )
}
