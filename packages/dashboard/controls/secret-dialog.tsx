import { type ReactNode, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

interface SecretDialogProps {
  readonly title: string
  readonly text: ReactNode
  readonly secret: string
  /** What the secret is, such as `key` for "Copy key" and "You cannot see this key again". */
  readonly noun: string
  /** What to do if the secret is lost; said in the warning. */
  readonly ifLost?: string
  readonly variant?: 'wide'
  /** Shown below the secret. */
  readonly children?: ReactNode
  readonly onClose: () => void
}

/** Shows a secret for the only time. Esc warns before it closes the dialog. */
export function SecretDialog(props: SecretDialogProps) {
  const { title, text, secret, noun, ifLost, variant, children, onClose } = props
  const [isAsking, setAsking] = useState(false)
  const shown = useRef<HTMLElement>(null)
  return (
    <Dialog title={title} variant={variant} onClose={() => setAsking(true)}>
      <p>{text}</p>
      <div className="secret">
        <code ref={shown} data-testid="secret">
          {secret}
        </code>
        <CopyButton text={secret} label={`Copy ${noun}`} variant="primary" shown={shown} isFocused />
      </div>
      {children}
      {isAsking && (
        <div className="notice warn" role="alert">
          You cannot see this {noun} again. {ifLost}
        </div>
      )}
      <div className="form-end">
        {isAsking && <Button onClick={() => setAsking(false)}>Keep it open</Button>}
        <Button variant="primary" onClick={onClose}>
          I have saved it
        </Button>
      </div>
    </Dialog>
  )
}
