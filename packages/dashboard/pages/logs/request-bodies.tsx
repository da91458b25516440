import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { toParams } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { CodeBlock } from '../../controls/code-block.tsx'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { type Message, readConversation } from './conversation.ts'
import type { LogDetail } from './log-calls.ts'

/** A longer text is collapsed, because megabytes of text freeze the browser. */
const MAX_SHOWN_CHARS = 200_000

/** Shows the request and the answer as plain text, so that nothing in them is run or loaded. */
export function RequestBodies({ log }: { log: LogDetail }) {
  const disabledReason = useDisabledReason('developer')
  const current = useEnvironment()
  const [isRaw, setRaw] = useState(false)
  if (disabledReason !== undefined && log.bodies !== 'not_captured') {
    return <p className="notice">Bodies need the developer role. {disabledReason}</p>
  }
  if (log.bodies === 'not_captured') {
    return (
      <p className="notice">
        <span>
          The bodies were not captured.{' '}
          <Link to="/o/$org/$project/$environment/settings" params={toParams(current)}>
            What the log of {current.environment.name} keeps
          </Link>
        </span>
      </p>
    )
  }
  const messages = readConversation(log.request_body, log.response_body)
  if (messages === undefined) return <RawBodies log={log} />
  return (
    <>
      <div className="row" role="group" aria-label="How to show the bodies">
        <Button small variant={isRaw ? 'quiet' : 'plain'} aria-pressed={!isRaw} onClick={() => setRaw(false)}>
          Conversation
        </Button>
        <Button small variant={isRaw ? 'plain' : 'quiet'} aria-pressed={isRaw} onClick={() => setRaw(true)}>
          Raw
        </Button>
      </div>
      {isRaw ? <RawBodies log={log} /> : <Conversation messages={messages} />}
    </>
  )
}

function RawBodies({ log }: { log: LogDetail }) {
  return (
    <>
      <Body title="Request" text={log.request_body} />
      <Body title="Answer" text={log.response_body} />
    </>
  )
}

function Conversation({ messages }: { messages: readonly Message[] }) {
  return (
    <section className="panel" aria-labelledby="conversation">
      <header>
        <h2 id="conversation">Conversation</h2>
      </header>
      <ol className="messages">
        {messages.map(({ role, text, calls, otherParts }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a record never change.
          <li key={index}>
            <span className="small muted">{role}</span>
            <div>
              {text !== '' && <LongText text={text} />}
              {calls.map((call, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a record never change.
                <p key={at} className="call">
                  <span className="small muted">calls </span>
                  <code>
                    {call.name}({call.arguments})
                  </code>
                </p>
              ))}
              {otherParts > 0 && (
                <p className="small muted">
                  {otherParts === 1 ? '1 part' : `${otherParts} parts`} that {otherParts === 1 ? 'is' : 'are'}{' '}
                  not text
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

function LongText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > MAX_SHOWN_CHARS && !isWhole
  return (
    <>
      <p className="text">{isLong ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}</p>
      {isLong && <ShowAll chars={text.length} onClick={() => setWhole(true)} />}
    </>
  )
}

function Body({ title, text }: { title: string; text: string | null }) {
  const [isWhole, setWhole] = useState(false)
  const pretty = text === null ? '' : toPretty(text)
  const isLong = pretty.length > MAX_SHOWN_CHARS && !isWhole
  return (
    <section className="panel">
      <header>
        <h2>{title}</h2>
      </header>
      <div className="stack padded">
        {text === null ? (
          <p className="muted">Not captured.</p>
        ) : (
          <CodeBlock
            text={text}
            shown={isLong ? `${pretty.slice(0, MAX_SHOWN_CHARS)}…` : pretty}
            label={title}
          />
        )}
        {isLong && <ShowAll chars={pretty.length} onClick={() => setWhole(true)} />}
      </div>
    </section>
  )
}

function ShowAll({ chars, onClick }: { chars: number; onClick: () => void }) {
  return (
    <div className="row">
      <Button onClick={onClick}>Show all {Math.round(chars / 1000)} KB</Button>
    </div>
  )
}

function toPretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
