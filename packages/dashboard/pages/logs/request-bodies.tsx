import { useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { CodeBlock } from '../../controls/code-block.tsx'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import type { LogDetail } from './log-calls.ts'

/** More is folded: a page with megabytes of text stops the browser. */
const MAX_SHOWN_CHARS = 200_000

/** What was sent and answered, as text. Nothing in it is followed, run or loaded. */
export function RequestBodies({ log }: { log: LogDetail }) {
  const objection = useObjection('developer')
  const { environment } = usePlace()
  if (objection !== undefined) {
    return <p className="notice">Bodies need the developer role. {objection}</p>
  }
  if (log.request_body === null && log.response_body === null) {
    return <p className="notice">Not captured: the {environment.name} environment keeps metadata only.</p>
  }
  return (
    <>
      <Body title="Request" text={log.request_body} />
      <Body title="Answer" text={log.response_body} />
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
        {isLong && (
          <div className="row">
            <Button onClick={() => setWhole(true)}>Show all {Math.round(pretty.length / 1000)} KB</Button>
          </div>
        )}
      </div>
    </section>
  )
}

function toPretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
