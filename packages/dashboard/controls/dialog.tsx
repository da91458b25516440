import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'

interface DialogProps {
  readonly title: string
  /** Called by Esc and by the close button. */
  readonly onClose: () => void
  readonly variant?: 'centered' | 'wide' | 'drawer' | undefined
  readonly children: ReactNode
}

/**
 * The browser's own modal dialog: it traps the focus, makes the rest of the page inert and gives the focus back when it is removed.
 * Render it while it is open. An element with `data-focus` gets the focus first.
 */
export function Dialog({ title, onClose, variant = 'centered', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    if (element === null || element.open) return
    element.showModal()
    element.querySelector<HTMLElement>('[data-focus]')?.focus()
    return () => {
      element.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className={`dialog ${variant}`}
      aria-labelledby={titleId}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <Button variant="quiet" small onClick={onClose} aria-label="Close">
          <span aria-hidden="true">✕</span>
        </Button>
      </header>
      <div className="dialog-body">{children}</div>
    </dialog>
  )
}
