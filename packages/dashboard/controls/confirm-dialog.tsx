import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { FormProblem } from './error-panel.tsx'
import { TextField } from './field.tsx'
import { useForm } from './use-form.ts'

interface ConfirmDialogProps {
  readonly title: string
  /** Explains what ends and what stays. */
  readonly children: ReactNode
  /** The name that the user must type. Without it the button is enough. */
  readonly name?: string
  readonly action: string
  readonly send: () => Promise<unknown>
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks before something ends. The user types its name if that cannot be undone. */
export function ConfirmDialog({ title, children, name, action, send, onDone, onClose }: ConfirmDialogProps) {
  const [typed, setTyped] = useState('')
  const form = useForm(send, () => {
    onDone()
    onClose()
  })
  const isConfirmed = name === undefined || typed.trim() === name
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        {children}
        {name !== undefined && (
          <TextField
            label={`Type ${name} to confirm`}
            value={typed}
            onChange={event => setTyped(event.target.value)}
          />
        )}
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose} data-focus>
            Cancel
          </Button>
          <Button
            type="submit"
            variant="danger"
            isPending={form.isPending}
            disabledReason={isConfirmed ? undefined : `Type ${name} first.`}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
