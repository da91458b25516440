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
  /** Shown beside the buttons. */
  readonly children?: ReactNode
}

/** The prompt, which gets the focus, with the buttons that send and stop it. */
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
      <div className="row">
        <Button type="submit" variant="primary" disabledReason={disabledReason} isPending={isRunning}>
          Send
        </Button>
        {isRunning && <Button onClick={onStop}>Stop</Button>}
        {children}
        <span className="small muted keys-hint">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends, <kbd>Esc</kbd> stops
        </span>
      </div>
    </form>
  )
}
