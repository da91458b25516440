import { Link } from '@tanstack/react-router'
import { RideauApiError } from '../../../sdk/index.ts'
import { toParams } from '../../api/workspace.ts'
import { toCount, toDuration } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import type { ToolResult } from './to-chat-params.ts'
import { ToolResults } from './tool-results.tsx'
import type { Turn } from './use-conversation.ts'

interface TurnViewProps {
  readonly turn: Turn
  /** Sends the results of the turn's tool calls. Only the last turn has it. */
  readonly onResults?: ((results: readonly ToolResult[]) => void) | undefined
}

export function TurnView({ turn, onResults }: TurnViewProps) {
  const { prompt, images, answer, tools, results, model, state } = turn
  return (
    <li className="turn">
      <div className="message from-user">
        <span className="visually-hidden">You: </span>
        {prompt}
        {results.map(({ id, content }) => (
          <div key={id} className="tool-call">
            <p className="small muted">Result of the tool</p>
            <code>{content}</code>
          </div>
        ))}
        {images.map((url, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the images of a prompt never change.
          <img key={index} src={url} alt={`Image ${index + 1} of the prompt`} />
        ))}
      </div>
      <div className="message">
        <p className="small muted">{model}</p>
        <div aria-live="polite" aria-busy={state === 'streaming'}>
          {answer}
          {state === 'waiting' && <span className="muted">Waiting for the first token…</span>}
          {state === 'streaming' && <span className="caret" aria-hidden="true" />}
        </div>
        {tools.map((tool, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls are only added at the end.
          <div key={index} className="tool-call">
            <p className="small muted">Calls the tool</p>
            <code>
              {tool.name}({tool.arguments})
            </code>
          </div>
        ))}
        {state === 'done' && tools.length > 0 && onResults !== undefined && (
          <ToolResults tools={tools} onResults={onResults} />
        )}
        {state === 'stopped' && <p className="small muted">Stopped.</p>}
        {state === 'failed' && <TurnProblem turn={turn} />}
        <TurnFigures turn={turn} />
      </div>
    </li>
  )
}

function TurnProblem({ turn: { error } }: { turn: Turn }) {
  const params = toParams(useEnvironment())
  const message = error instanceof Error ? error.message : 'The answer could not be read.'
  return (
    <div role="alert" className="notice bad">
      <span>{message}</span>
      {error instanceof RideauApiError && (
        <span className="small">
          <code>{error.code}</code> · status {error.status}
        </span>
      )}
      {error instanceof RideauApiError && isByLimit(error.code) && (
        <Link to="/o/$org/$project/$environment/limits" params={params}>
          See what limits it
        </Link>
      )}
    </div>
  )
}

/** Returns whether a rule of the limits page refused the request. */
function isByLimit(code: string): boolean {
  return /^(budget|quota|rate_limit|end_user_rpm|concurrency_limit)_exceeded$/.test(code)
}

function TurnFigures({ turn: { figures, state, requestId } }: { turn: Turn }) {
  const params = toParams(useEnvironment())
  const tokens = figures?.usage?.output_tokens
  const seconds = figures === undefined ? 0 : (figures.totalMs - figures.firstTokenMs) / 1000
  return (
    <p className="figures small">
      {figures !== undefined && <span>First token {toDuration(figures.firstTokenMs)}</span>}
      {state === 'done' && figures !== undefined && <span>Total {toDuration(figures.totalMs)}</span>}
      {tokens !== undefined && <span>{toCount(tokens)} tokens</span>}
      {tokens !== undefined && seconds > 0.05 && (
        <span>{toCount(Math.round(tokens / seconds))} tokens/s</span>
      )}
      {figures?.costUsd !== undefined && <span>{toMoney(figures.costUsd)}</span>}
      {requestId !== null && state !== 'streaming' && (
        <Link to="/o/$org/$project/$environment/logs/$requestId" params={{ ...params, requestId }}>
          See it in Logs
        </Link>
      )}
    </p>
  )
}
