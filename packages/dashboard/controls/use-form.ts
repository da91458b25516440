import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { type ApiError, toApiError } from '../api/api-error.ts'
import { toConflict } from './conflict-error.ts'
import { useEdit, type VersionedRecord } from './edit-form.tsx'

/** The header with the version that a change is based on. It is empty if a record is created. */
export interface VersionHeader {
  readonly 'If-Match'?: string
}

const NO_VERSION: VersionHeader = {}

interface Form {
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
  readonly isPending: boolean
  /** Whether the last submission succeeded and no other one has begun. */
  readonly isSaved: boolean
  /** Why the last submission failed, or undefined if none has or a later one succeeded. */
  readonly error: ApiError | undefined
  /** Returns the error message for a field by its name in the API, such as `restrictions.max_request_cost_usd`. */
  problemOf(name: string): string | undefined
}

/**
 * Submits a form by `send`. If the error names a field, the message belongs to that field, which gets the focus. Within an
 * `EditForm`, `send` gets the header with the record's version, and FormProblem shows a conflict.
 */
export function useForm<Result>(
  send: (data: FormData, header: VersionHeader) => Promise<Result>,
  onDone: (result: Result) => void,
): Form {
  const form = useRef<HTMLFormElement>(null)
  const edit = useEdit()
  const mutation = useMutation({
    mutationFn: async (data: FormData) => {
      try {
        return await send(data, edit?.header ?? NO_VERSION)
      } catch (thrown) {
        throw await toConflict(thrown, edit)
      }
    },
    onSuccess: result => {
      // A form that stays open continues with the version that it has just stored.
      if (edit !== undefined && isVersionOf(result, edit.base)) edit.rebase(result)
      onDone(result)
    },
    onError: thrown => {
      const { param } = toApiError(thrown)
      if (param !== undefined)
        form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(param)}"]`)?.focus()
    },
  })
  const error = mutation.error === null ? undefined : toApiError(mutation.error)
  return {
    onSubmit: event => {
      event.preventDefault()
      form.current = event.currentTarget
      if (!mutation.isPending) mutation.mutate(new FormData(event.currentTarget))
    },
    isPending: mutation.isPending,
    isSaved: mutation.isSuccess,
    error,
    problemOf: name => (error?.param === name ? error.message : undefined),
  }
}

function isVersionOf(value: unknown, { id }: VersionedRecord): value is VersionedRecord {
  const { id: own, updated_at: updatedAt } = (value ?? {}) as Partial<VersionedRecord>
  return own === id && typeof updatedAt === 'string'
}

/** Returns the field's text without spaces around it. */
export function textOf(data: FormData, name: string): string {
  const value = data.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
