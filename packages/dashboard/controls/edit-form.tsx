import { useQueryClient } from '@tanstack/react-query'
import { createContext, Fragment, type ReactNode, useContext, useState } from 'react'

/** A record with a version. */
export interface VersionedRecord {
  readonly id: string
  readonly updated_at: string
}

interface Edit {
  /** The version that the form's input is based on. */
  readonly base: VersionedRecord
  readonly header: { readonly 'If-Match': string }
  read(): Promise<VersionedRecord>
  /** Keeps the input and bases it on this version. */
  rebase(latest: VersionedRecord): void
  /** Discards the input and starts again with this version. */
  reset(latest: VersionedRecord): void
}

const EditContext = createContext<Edit | undefined>(undefined)

/** Returns the edit of the surrounding EditForm, or undefined in a form that creates a record. */
export function useEdit(): Edit | undefined {
  return useContext(EditContext)
}

interface EditFormProps<T extends VersionedRecord> {
  readonly record: T
  /** Reads the record again, after someone else has changed it. */
  readonly read: () => Promise<T>
  /** Renders the form. It keeps the version that it started with, even if the record is refreshed elsewhere. */
  readonly children: (record: T) => ReactNode
}

/** Wraps a form that changes a record. useForm then sends the record's version with the change, and FormProblem shows a conflict. */
export function EditForm<T extends VersionedRecord>({ record, read, children }: EditFormProps<T>) {
  const client = useQueryClient()
  const [first, setFirst] = useState(record)
  const [base, setBase] = useState<VersionedRecord>(record)
  const edit: Edit = {
    base,
    header: { 'If-Match': `"${base.updated_at}"` },
    read,
    rebase: setBase,
    reset: latest => {
      // The latest version always comes from `read`.
      setFirst(latest as T)
      setBase(latest)
      void client.invalidateQueries()
    },
  }
  return (
    <EditContext.Provider value={edit}>
      <Fragment key={first.updated_at}>{children(first)}</Fragment>
    </EditContext.Provider>
  )
}
