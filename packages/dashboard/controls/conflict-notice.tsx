import { useState } from 'react'
import { toDiff } from '../format/to-diff.ts'
import { Button } from './button.tsx'
import { DiffTable } from './diff-table.tsx'
import { useEdit, type Versioned } from './edit-form.tsx'

/** Figures that move by use, and are no change of somebody. */
const COUNTED = new Set(['used', 'reserved', 'spent_usd', 'reserved_usd', 'projected_usd', 'resets_at'])

/** Says what somebody else changed under a form, and asks which of the two shall stand. */
export function ConflictNotice({ latest }: { latest: Versioned }) {
  const edit = useEdit()
  // What the input was based on when the conflict was met.
  const [before] = useState(edit?.base)
  if (edit === undefined || before === undefined) return null
  const isKept = edit.base.updated_at === latest.updated_at
  return (
    <div role="alert" className="notice warn stack">
      <strong>Somebody else changed this meanwhile.</strong>
      <DiffTable differences={toDiff(before, latest).filter(({ path }) => !COUNTED.has(path))} />
      {isKept ? (
        <span>Your input is kept. Saving it again writes it over that change.</span>
      ) : (
        <>
          <span>Nothing was saved, and your input is still here.</span>
          <span className="row">
            <Button small onClick={() => edit.rebase(latest)}>
              Keep my input
            </Button>
            <Button small onClick={() => edit.reset(latest)}>
              Drop it and reload
            </Button>
          </span>
        </>
      )}
    </div>
  )
}
