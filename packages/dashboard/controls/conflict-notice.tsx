import { useState } from 'react'
import { toDiff } from '../format/to-diff.ts'
import { Button } from './button.tsx'
import { DiffTable } from './diff-table.tsx'
import { useEdit, type VersionedRecord } from './edit-form.tsx'

/** Fields that change by usage, not by a person. */
const COUNTED = new Set(['used', 'reserved', 'spent_usd', 'reserved_usd', 'projected_usd', 'resets_at'])

/** Shows what someone else changed while the form was open, and asks whether to keep the input. */
export function ConflictNotice({ latest }: { latest: VersionedRecord }) {
  const edit = useEdit()
  // The version that the input was based on when the conflict appeared.
  const [before] = useState(edit?.base)
  if (edit === undefined || before === undefined) return null
  const isKept = edit.base.updated_at === latest.updated_at
  return (
    <div role="alert" className="notice warn stack">
      <strong>Someone else changed this in the meantime.</strong>
      <DiffTable differences={toDiff(before, latest).filter(({ path }) => !COUNTED.has(path))} />
      {isKept ? (
        <span>Your input is kept. Saving it again overwrites that change.</span>
      ) : (
        <>
          <span>Nothing was saved, and your input is still here.</span>
          <span className="row">
            <Button small onClick={() => edit.rebase(latest)}>
              Keep my input
            </Button>
            <Button small onClick={() => edit.reset(latest)}>
              Discard it and reload
            </Button>
          </span>
        </>
      )}
    </div>
  )
}
