import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { FormProblem } from './error-panel.tsx'
import { useForm } from './use-form.ts'

interface RemoveDialogProps {
  readonly title: string
  /** What the removal causes, in a sentence. */
  readonly effect: string
  readonly verb?: string
  readonly remove: () => Promise<unknown>
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks before something is removed that can be created again. */
export function RemoveDialog({ title, effect, verb = 'Remove', remove, onDone, onClose }: RemoveDialogProps) {
  const form = useForm(remove, () => {
    onDone()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p>{effect}</p>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button data-focus onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="danger" isPending={form.isPending}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
