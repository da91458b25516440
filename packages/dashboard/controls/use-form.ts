import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { type ApiError, toApiError } from '../api/api-error.ts'
import { toConflict } from './conflict-error.ts'
import { useEdit, type Versioned } from './edit-form.tsx'

/** Names the version that a change is based on; empty where a record is created. */
export interface VersionHeader {
  readonly 'If-Match'?: string
}

const NO_VERSION: VersionHeader = {}

interface Form {
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
  readonly isPending: boolean
  /** The last sending went well, and none has begun since. */
  readonly isSaved: boolean
  /** The last failure; undefined before and after a success. */
  readonly error: ApiError | undefined
  /** The message for the field whose name the API uses, such as `restrictions.max_request_cost_usd`. */
  problemOf(name: string): string | undefined
}

/**
 * Sends a form by `send` and puts a failure at the field that it names, which gets the focus. Within an `EditForm`, `send`
 * gets the header that names the version, and an outdated one is shown by FormProblem.
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
      // A form that stays open goes on from what it has stored.
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

function isVersionOf(value: unknown, { id }: Versioned): value is Versioned {
  const { id: own, updated_at: updatedAt } = (value ?? {}) as Partial<Versioned>
  return own === id && typeof updatedAt === 'string'
}

/** Returns the field's text without spaces around it. */
export function textOf(data: FormData, name: string): string {
  const value = data.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
