import { type FormEvent, useState } from 'react'
import type { Key } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { textOf } from '../../controls/use-form.ts'
import {
  countFilters,
  DEFAULT_RANGE,
  ENDPOINTS,
  FILTER_LABELS,
  type LogSearch,
  listValues,
  parseLogSearch,
  parseMetadataText,
  parseValuesText,
  type Range,
  toMetadataText,
  toValuesText,
} from './log-search.ts'

/** Filters that are typed as a list, with `!` before values that must not match. */
const LIST_FILTERS = ['model', 'provider', 'error_code', 'key_name'] as const
const TEXT_FIELDS: ReadonlySet<string> = new Set([...LIST_FILTERS, 'metadata', 'range'])
/** Filters whose field shows one value. The address may have several. */
const SINGLE_VALUE_FILTERS = ['status', 'key_id', 'end_user_id', 'endpoint'] as const

/** Returns the filters of the address that no field shows: several values of a single-value field, and negated values. */
function hiddenFilters(search: LogSearch, data?: FormData): LogSearch {
  const shown = SINGLE_VALUE_FILTERS.flatMap(name => {
    const values = listValues(search[name])
    // A field that was changed replaces the values of the address.
    const isKept = values.length > 1 && (data === undefined || (data.get(name) ?? values[0]) === values[0])
    return isKept ? [[name, values]] : []
  })
  const others = SINGLE_VALUE_FILTERS.map(name => [`not.${name}`, listValues(search[`not.${name}`])] as const)
  return Object.fromEntries([...shown, ...others.filter(([, values]) => values.length > 0)])
}

function pickTimes({ from, to }: LogSearch): LogSearch {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

function readTexts(data: FormData): Record<string, readonly string[]> {
  return Object.assign({}, ...LIST_FILTERS.map(name => parseValuesText(name, textOf(data, name))))
}

interface FilterBarProps {
  readonly search: LogSearch
  readonly keys: readonly Key[]
  readonly onChange: (search: LogSearch) => void
}

/** The filters of the address as a form. A choice applies at once, a text on Enter. */
export function FilterBar({ search, keys, onChange }: FilterBarProps) {
  const [isOpen, setOpen] = useState(() => countFilters(search) > Number(search.status !== undefined))
  const apply = (form: HTMLFormElement): void => {
    const data = new FormData(form)
    const given = [...data].filter(([name, value]) => !TEXT_FIELDS.has(name) && value !== '')
    const range = textOf(data, 'range') as Range
    onChange(
      parseLogSearch({
        // Filters whose fields are collapsed stay as they are.
        ...(isOpen ? {} : search),
        status: undefined,
        ...Object.fromEntries(given),
        ...(isOpen ? parseMetadataText(textOf(data, 'metadata')) : {}),
        ...(isOpen ? readTexts(data) : {}),
        // So do filters that no field shows.
        ...hiddenFilters(search, data),
        // A custom time stays until another range is chosen.
        ...(range === (search.range ?? DEFAULT_RANGE)
          ? pickTimes(search)
          : { from: undefined, to: undefined }),
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
    <>
      {/* The key resets the fields when the address changes, such as on Back, and when the names of keys arrive, because a
      select loses its value when its options are replaced. */}
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
        <SelectField label="Time" name="range" data-range defaultValue={search.range ?? DEFAULT_RANGE}>
          <option value="1h">Last hour</option>
          <option value="24h">Last 24 hours</option>
          <option value="7d">Last 7 days</option>
          <option value="30d">Last 30 days</option>
        </SelectField>
        <StatusField status={search.status} />
        {isOpen && <MoreFilters search={search} keys={keys} />}
        <Button variant="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer filters' : 'More filters'}
        </Button>
      </form>
      <HiddenFilters search={search} onChange={onChange} />
    </>
  )
}

function StatusField({ status }: { status: LogSearch['status'] | undefined }) {
  const only = listValues(status)[0]
  return (
    <SelectField label="Status" name="status" defaultValue={only ?? ''}>
      <option value="">Any</option>
      {[...new Set(['2xx', '4xx', '5xx', ...listValues(status)])].map(statusClass => (
        <option key={statusClass}>{statusClass}</option>
      ))}
    </SelectField>
  )
}

/** Shows each filter that no field shows as a button that clears it. */
function HiddenFilters({ search, onChange }: Pick<FilterBarProps, 'search' | 'onChange'>) {
  const hidden = hiddenFilters(search)
  const labels = FILTER_LABELS.filter(([name]) => hidden[name] !== undefined)
  if (labels.length === 0) return null
  return (
    <p className="row small">
      Also filtered by:
      {labels.map(([name, label]) => (
        <Button
          key={name}
          small
          onClick={() => {
            const { [name]: _dropped, ...rest } = search
            onChange(rest)
          }}
        >
          {label}: {listValues(hidden[name]).join(' or ')} ✕
        </Button>
      ))}
    </p>
  )
}

/** A filter with the values true, false and any. */
function BooleanFilter({
  label,
  name,
  value,
  yes,
  no,
}: Record<'label' | 'name' | 'yes' | 'no', string> & { value: string | undefined }) {
  return (
    <SelectField label={label} name={name} defaultValue={value ?? ''}>
      <option value="">Any</option>
      <option value="true">{yes}</option>
      <option value="false">{no}</option>
    </SelectField>
  )
}

function MoreFilters({ search, keys }: Pick<FilterBarProps, 'search' | 'keys'>) {
  const keyId = listValues(search.key_id)[0] ?? ''
  return (
    <>
      <TextField
        label="Model"
        name="model"
        defaultValue={toValuesText(search, 'model')}
        placeholder="fast, !openai/o3"
      />
      <TextField
        label="Provider"
        name="provider"
        defaultValue={toValuesText(search, 'provider')}
        placeholder="openai, !azure"
      />
      <SelectField label="Endpoint" name="endpoint" defaultValue={listValues(search.endpoint)[0] ?? ''}>
        <option value="">Any</option>
        {ENDPOINTS.map(endpoint => (
          <option key={endpoint}>{endpoint}</option>
        ))}
      </SelectField>
      <BooleanFilter label="Stream" name="stream" value={search.stream} yes="Streamed" no="Not streamed" />
      <BooleanFilter
        label="Sandbox"
        name="sandbox"
        value={search.sandbox}
        yes="Only sandbox"
        no="No sandbox"
      />
      <SelectField label="Key" name="key_id" defaultValue={keyId}>
        <option value="">Any</option>
        {keys.map(({ id, name, prefix_display }) => (
          <option key={id} value={id}>
            {name} ({prefix_display})
          </option>
        ))}
        {keyId !== '' && keys.every(({ id }) => id !== keyId) && <option value={keyId}>{keyId}</option>}
      </SelectField>
      <TextField label="Key name" name="key_name" defaultValue={toValuesText(search, 'key_name')} />
      <TextField label="End user" name="end_user_id" defaultValue={listValues(search.end_user_id)[0] ?? ''} />
      <TextField
        label="Error code"
        name="error_code"
        defaultValue={toValuesText(search, 'error_code')}
        placeholder="timeout"
      />
      <TextField
        label="Request id starts with"
        name="request_id"
        defaultValue={search.request_id ?? ''}
        minLength={8}
        placeholder="at least 8 characters"
      />
      <TextField
        label="Cost at least, $"
        name="min_cost_usd"
        inputMode="decimal"
        defaultValue={search.min_cost_usd ?? ''}
      />
      <TextField
        label="Duration at least, ms"
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
