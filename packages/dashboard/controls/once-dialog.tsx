import { type ReactNode, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

interface OnceDialogProps {
  readonly title: string
  readonly text: ReactNode
  readonly secret: string
  /** Such as `key`: "Copy key", "You cannot see this key again". */
  readonly noun: string
  readonly onClose: () => void
}

/** The only view of a secret. Esc asks first. */
export function OnceDialog({ title, text, secret, noun, onClose }: OnceDialogProps) {
  const [isAsking, setAsking] = useState(false)
  const shown = useRef<HTMLElement>(null)
  return (
    <Dialog title={title} onClose={() => setAsking(true)}>
      <p>{text}</p>
      <div className="secret">
        <code ref={shown} data-testid="secret">
          {secret}
        </code>
        <CopyButton text={secret} label={`Copy ${noun}`} look="primary" shown={shown} />
      </div>
      {isAsking && (
        <div className="notice warn" role="alert">
          You cannot see this {noun} again.
        </div>
      )}
      <div className="form-end">
        {isAsking && <Button onClick={() => setAsking(false)}>Keep it open</Button>}
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      </div>
    </Dialog>
  )
}
