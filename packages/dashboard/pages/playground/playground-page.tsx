import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useState } from 'react'
import type { Model } from '../../../sdk/index.ts'
import { toParams } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { EmptyState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { findFirstModel } from './chat-models.ts'
import { Composer } from './composer.tsx'
import type { Draft } from './draft.ts'
import { DraftSettings } from './draft-settings.tsx'
import { readDraft, storeDraft } from './draft-storage.ts'
import { ImageField } from './image-field.tsx'
import './playground.css'
import { useGateway } from '../../session/use-gateway.ts'
import { SetupKeysPanel } from './setup-keys-panel.tsx'
import { findDraftProblem, type ToolResult, toShownParams } from './to-chat-params.ts'
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
  const models = useQuery({
    queryKey: ['gateway-models', environment.id],
    queryFn: () => gateway.listModels(),
    enabled: disabledReason === undefined,
  })
  const { draft, change } = useDraft(models.data)
  const { model } = draft
  const noModelReason = model === '' ? 'No model to call is known yet.' : undefined
  const isRunning = conversation.isRunning || other.isRunning
  const send = (): void => {
    const isReady = draft.prompt.trim() !== '' && findDraftProblem(draft) === undefined
    if (disabledReason !== undefined || model === '' || isRunning || !isReady) return
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
      <Header model={model} onClear={conversation.turns.length > 0 ? clear : undefined} />
      <div className="playground" onKeyDown={onKeyDown} role="presentation">
        <section className="panel conversation" aria-label="Conversation">
          <Answers
            isWithoutModel={models.isSuccess && model === ''}
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
            disabledReason={disabledReason ?? noModelReason}
          >
            <ImageField images={images} onChange={setImages} />
          </Composer>
        </section>
        <div className="stack">
          {models.isError && (
            <ErrorPanel what="Models" error={models.error} onRetry={() => void models.refetch()} />
          )}
          <DraftSettings
            draft={draft}
            params={toShownParams(draft, images, conversation.turns)}
            models={models.data ?? []}
            onChange={change}
          />
        </div>
      </div>
      <SetupKeysPanel />
    </>
  )
}

function Header({ model, onClear }: { model: string; onClear: (() => void) | undefined }) {
  return (
    <PageHeader
      title="Playground"
      description={model.startsWith('sandbox/') ? SANDBOX_TEXT : PROVIDER_TEXT}
      actions={
        onClear !== undefined && (
          <Button small onClick={onClear}>
            Start over
          </Button>
        )
      }
    />
  )
}

/** The draft of this tab. Its model is the environment's first one until another is chosen. */
function useDraft(models: readonly Model[] | undefined) {
  const { environment } = useEnvironment()
  const [stored, setDraft] = useState(() => readDraft(environment.id))
  useEffect(() => storeDraft(environment.id, stored), [environment.id, stored])
  const model = stored.model === '' ? (findFirstModel(environment.name, models) ?? '') : stored.model
  return {
    draft: { ...stored, model },
    change: (changes: Partial<Draft>): void => setDraft({ ...stored, ...changes }),
  }
}

interface AnswersProps {
  /** Whether the environment has no model that a prompt could be sent to. */
  readonly isWithoutModel: boolean
  readonly turns: readonly Turn[]
  readonly otherModel: string
  readonly otherTurns: readonly Turn[]
  readonly onResults: (results: readonly ToolResult[]) => void
  readonly onOtherResults: (results: readonly ToolResult[]) => void
}

function Answers({ isWithoutModel, turns, otherModel, otherTurns, onResults, onOtherResults }: AnswersProps) {
  const isCompared = otherModel !== ''
  return (
    <div className="answers">
      {isWithoutModel && <NoModel />}
      {turns.length === 0 && !isWithoutModel && (
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

function NoModel() {
  const current = useEnvironment()
  return (
    <EmptyState title="No model to call yet">
      <p>The {current.environment.name} environment calls providers. Add a provider’s key first.</p>
      <Link
        className="button primary"
        to="/o/$org/$project/$environment/providers"
        params={toParams(current)}
      >
        Add a provider
      </Link>
    </EmptyState>
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
