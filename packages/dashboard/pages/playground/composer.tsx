import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../../controls/button.tsx'
import { TextAreaField } from '../../controls/field.tsx'

interface ComposerProps {
  readonly prompt: string
  readonly onChange: (prompt: string) => void
  readonly onSend: () => void
  readonly onStop: () => void
  readonly isRunning: boolean
  readonly disabledReason: string | undefined
  /** Between the prompt and what sends it. */
  readonly children?: ReactNode
}

/** The prompt, with the focus in it, and what sends and stops it. */
export function Composer({
  prompt,
  onChange,
  onSend,
  onStop,
  isRunning,
  disabledReason,
  children,
}: ComposerProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => area.current?.focus(), [])
  return (
    <form
      className="composer"
      onSubmit={event => {
        event.preventDefault()
        onSend()
      }}
    >
      <TextAreaField
        label="Prompt"
        ref={area}
        rows={3}
        value={prompt}
        onChange={event => onChange(event.target.value)}
      />
      {children}
      <div className="row">
        <Button type="submit" variant="primary" disabledReason={disabledReason} isPending={isRunning}>
          Send
        </Button>
        {isRunning && <Button onClick={onStop}>Stop</Button>}
        <span className="small muted keys-hint">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends, <kbd>Esc</kbd> stops
        </span>
      </div>
    </form>
  )
}
