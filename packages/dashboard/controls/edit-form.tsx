import { useQueryClient } from '@tanstack/react-query'
import { createContext, Fragment, type ReactNode, useContext, useState } from 'react'

/** A record with a version. */
export interface Versioned {
  readonly id: string
  readonly updated_at: string
}

interface Edit {
  /** Of the version that the form's input is based on. */
  readonly base: Versioned
  readonly header: { readonly 'If-Match': string }
  read(): Promise<Versioned>
  /** Keeps the input, from now on as a change of this version. */
  rebase(latest: Versioned): void
  /** Drops the input and begins with this version. */
  reset(latest: Versioned): void
}

const EditContext = createContext<Edit | undefined>(undefined)

/** The record that the form around is about; undefined in a form that creates one. */
export function useEdit(): Edit | undefined {
  return useContext(EditContext)
}

interface EditFormProps<T extends Versioned> {
  readonly record: T
  /** Reads the record again: after somebody else has changed it. */
  readonly read: () => Promise<T>
  /** The form. It gets the version that it begins with, and keeps that while other pages refresh the record. */
  readonly children: (record: T) => ReactNode
}

/** Around a form that changes a record: its useForm sends the version with the change, and its FormProblem shows a conflict. */
export function EditForm<T extends Versioned>({ record, read, children }: EditFormProps<T>) {
  const client = useQueryClient()
  const [first, setFirst] = useState(record)
  const [base, setBase] = useState<Versioned>(record)
  const edit: Edit = {
    base,
    header: { 'If-Match': `"${base.updated_at}"` },
    read,
    rebase: setBase,
    reset: latest => {
      // `read` made it.
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
