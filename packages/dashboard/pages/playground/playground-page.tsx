import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import { Composer } from './composer.tsx'
import type { Draft } from './draft.ts'
import { readDraft, storeDraft } from './draft-storage.ts'
import { DraftSettings } from './draft-settings.tsx'
import { ImageField } from './image-field.tsx'
import './playground.css'
import { SetupKeysPanel } from './setup-keys-panel.tsx'
import { TurnView } from './turn-view.tsx'
import { findDraftProblem } from './to-chat-params.ts'
import { type Turn, useConversation } from './use-conversation.ts'
import { useGateway } from '../../session/use-gateway.ts'

export function PlaygroundPage() {
  const { environment } = usePlace()
  const objection = useObjection('developer')
  const gateway = useGateway()
  const conversation = useConversation(gateway)
  const other = useConversation(gateway)
  const [images, setImages] = useState<readonly string[]>([])
  const [draft, setDraft] = useState(() => readDraft(environment.id))
  const models = useQuery({
    queryKey: ['gateway-models', environment.id],
    queryFn: () => gateway.listModels(),
    enabled: objection === undefined,
  })
  useEffect(() => storeDraft(environment.id, draft), [environment.id, draft])
  const change = (changes: Partial<Draft>): void => setDraft({ ...draft, ...changes })
  const isRunning = conversation.isRunning || other.isRunning
  const send = (): void => {
    const isReady = draft.prompt.trim() !== '' && findDraftProblem(draft) === undefined
    if (objection !== undefined || isRunning || !isReady) return
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
            <Button small onClick={clear}>
              Start over
            </Button>
          )
        }
      />
      <div className="playground" onKeyDown={onKeyDown} role="presentation">
        <section className="panel conversation" aria-label="Conversation">
          <Answers turns={conversation.turns} otherModel={draft.otherModel} otherTurns={other.turns} />
          <Composer
            prompt={draft.prompt}
            onChange={text => change({ prompt: text })}
            onSend={send}
            onStop={stop}
            isRunning={isRunning}
            objection={objection}
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
}

function Answers({ turns, otherModel, otherTurns }: AnswersProps) {
  const isCompared = otherModel !== ''
  return (
    <div>
      {turns.length === 0 && <p className="waiting">Send the prompt below. The answer is streamed here.</p>}
      <div className={isCompared ? 'compared' : undefined} hidden={turns.length === 0}>
        <Turns label="Messages" turns={turns} />
        {isCompared && <Turns label={`Messages of ${otherModel}`} turns={otherTurns} />}
      </div>
    </div>
  )
}

function Turns({ label, turns }: { label: string; turns: readonly Turn[] }) {
  return (
    <ol className="turns" aria-label={label}>
      {turns.map((turn, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added at the end.
        <TurnView key={index} turn={turn} />
      ))}
    </ol>
  )
}
