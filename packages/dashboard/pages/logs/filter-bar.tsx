import { type FormEvent, useState } from 'react'
import type { Key } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { textOf } from '../../controls/use-form.ts'
import {
  countFilters,
  DEFAULT_RANGE,
  FILTER_LABELS,
  type LogSearch,
  parseLogSearch,
  parseMetadataText,
  type Range,
  toMetadataText,
} from './log-search.ts'

interface FilterBarProps {
  readonly search: LogSearch
  readonly keys: readonly Key[]
  readonly onChange: (search: LogSearch) => void
}

/** The filters of the address as a form. A choice applies at once, a text with Enter. */
export function FilterBar({ search, keys, onChange }: FilterBarProps) {
  const [isOpen, setOpen] = useState(() => countFilters(search) > Number(search.status !== undefined))
  const apply = (form: HTMLFormElement): void => {
    const data = new FormData(form)
    const given = FILTER_LABELS.map(([name]) => [name, textOf(data, name)]).filter(
      ([, value]) => value !== '',
    )
    const range = textOf(data, 'range') as Range
    onChange(
      parseLogSearch({
        // A filter whose field is folded away stays as it is.
        ...(isOpen ? {} : search),
        ...Object.fromEntries(given),
        ...(isOpen ? parseMetadataText(textOf(data, 'metadata')) : {}),
        ...(textOf(data, 'status') === '' ? { status: undefined } : {}),
        range: range === DEFAULT_RANGE ? undefined : range,
        tail: search.tail,
      }),
    )
  }
  const onSubmit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    apply(event.currentTarget)
  }
  return (
    // The key fills the fields anew when the address changes, such as by Back, and when the names of keys arrive: a choice
    // whose option is replaced would be lost.
    <form
      key={`${keys.length} ${JSON.stringify(search)}`}
      className="filters"
      role="search"
      aria-label="Filter requests"
      onSubmit={onSubmit}
      onChange={event => {
        if (event.target instanceof HTMLSelectElement) apply(event.currentTarget)
      }}
    >
      <SelectField label="Time" name="range" defaultValue={search.range ?? DEFAULT_RANGE}>
        <option value="1h">Last hour</option>
        <option value="24h">Last 24 hours</option>
        <option value="7d">Last 7 days</option>
        <option value="30d">Last 30 days</option>
      </SelectField>
      <SelectField label="Status" name="status" defaultValue={search.status ?? ''}>
        <option value="">Any</option>
        {[...new Set(['2xx', '4xx', '5xx', ...(search.status === undefined ? [] : [search.status])])].map(
          each => (
            <option key={each}>{each}</option>
          ),
        )}
      </SelectField>
      {isOpen && <MoreFilters search={search} keys={keys} />}
      <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
    </form>
  )
}

function MoreFilters({ search, keys }: Pick<FilterBarProps, 'search' | 'keys'>) {
  return (
    <>
      <TextField label="Model" name="model" defaultValue={search.model ?? ''} placeholder="openai/gpt-4o" />
      <TextField label="Provider" name="provider" defaultValue={search.provider ?? ''} />
      <SelectField label="Key" name="key_id" defaultValue={search.key_id ?? ''}>
        <option value="">Any</option>
        {keys.map(({ id, name, prefix_display }) => (
          <option key={id} value={id}>
            {name} ({prefix_display})
          </option>
        ))}
        {search.key_id !== undefined && keys.every(({ id }) => id !== search.key_id) && (
          <option value={search.key_id}>{search.key_id}</option>
        )}
      </SelectField>
      <TextField label="End user" name="end_user_id" defaultValue={search.end_user_id ?? ''} />
      <TextField label="Error code" name="error_code" defaultValue={search.error_code ?? ''} />
      <TextField
        label="Cost at least, $"
        name="min_cost_usd"
        inputMode="decimal"
        defaultValue={search.min_cost_usd ?? ''}
      />
      <TextField
        label="Takes at least, ms"
        name="min_latency_ms"
        inputMode="numeric"
        defaultValue={search.min_latency_ms ?? ''}
      />
      <TextField
        label="Metadata"
        name="metadata"
        defaultValue={toMetadataText(search)}
        placeholder="team=web, tag=a"
      />
      <Button type="submit">Apply</Button>
    </>
  )
}
