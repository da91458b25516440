import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { ErrorPanel, FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { parseSearchText, toSearchText } from '../../format/search-text.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { type LogSearch, parseLogSearch } from './log-search.ts'

interface SavedViewsProps {
  readonly search: LogSearch
  readonly onChange: (search: LogSearch) => void
}

/** Opens, saves and removes the user's saved filters of this environment. */
export function SavedViews({ search, onChange }: SavedViewsProps) {
  const envId = useEnvironment().environment.id
  const [isSaving, setSaving] = useState(false)
  const views = useQuery({
    queryKey: ['views', envId],
    queryFn: async () => {
      const query = { environment_id: envId }
      const { data } = await unwrap(api.GET('/v1/session/views', { params: { query } }))
      return data.filter(({ page }) => page === 'logs')
    },
  })
  const current = toText(search)
  const open = views.data?.find(view => view.search === current)
  const removal = useMutation({
    mutationFn: (viewId: string) =>
      unwrap(api.DELETE('/v1/session/views/{viewId}', { params: { path: { viewId } } })),
    onSuccess: () => views.refetch(),
  })
  return (
    <>
      {views.data !== undefined && views.data.length > 0 && (
        <SelectField
          label="Saved view"
          value={open?.id ?? ''}
          onChange={event => {
            const chosen = views.data.find(({ id }) => id === event.target.value)
            onChange(parseLogSearch(parseSearchText(chosen?.search ?? '')))
          }}
        >
          <option value="">None</option>
          {views.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      {open === undefined ? (
        current !== '' && <Button onClick={() => setSaving(true)}>Save view</Button>
      ) : (
        <Button isPending={removal.isPending} onClick={() => removal.mutate(open.id)}>
          Remove view
        </Button>
      )}
      {removal.isError && <ErrorPanel what="The view" error={removal.error} />}
      {isSaving && (
        <SaveDialog
          envId={envId}
          search={current}
          onClose={() => setSaving(false)}
          onDone={() => void views.refetch()}
        />
      )}
    </>
  )
}

interface SaveDialogProps {
  readonly envId: string
  readonly search: string
  readonly onClose: () => void
  readonly onDone: () => void
}

function SaveDialog({ envId, search, onClose, onDone }: SaveDialogProps) {
  const [viewId] = useState(() => newViewId())
  const form = useForm(
    data =>
      unwrap(
        api.PUT('/v1/session/views/{viewId}', {
          params: { path: { viewId } },
          body: { environment_id: envId, page: 'logs', name: textOf(data, 'name'), search },
        }),
      ),
    () => {
      onDone()
      onClose()
    },
  )
  return (
    <Dialog title="Save view" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Name"
          name="name"
          required
          maxLength={100}
          data-focus
          problem={form.problemOf('name')}
          hint="Only you see it, in this environment."
        />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Save view
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Returns the query of the address with sorted parameters and without the live tail, so that equal filters have equal texts. */
function toText({ tail: _, ...search }: LogSearch): string {
  return toSearchText(Object.fromEntries(Object.entries(search).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** Returns a random UUID. `crypto.randomUUID` exists only on HTTPS and localhost. */
function newViewId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
