import { Link, useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { useList } from '../../api/use-list.ts'
import { toParams } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { ModelId } from '../../controls/model-id.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { textOf } from '../../controls/use-form.ts'
import { toCount } from '../../format/amounts.ts'
import { toPrice } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import {
  CAPABILITIES,
  type Capability,
  type CatalogModel,
  describeCapabilities,
  listCatalog,
} from './model-calls.ts'

interface CatalogPanelProps {
  readonly q: string | undefined
  readonly can: Capability | undefined
}

export function CatalogPanel({ q, can }: CatalogPanelProps) {
  const current = useEnvironment()
  const navigate = useNavigate()
  const envId = current.environment.id
  const models = useList(['catalog', envId, q, can], cursor =>
    listCatalog(envId, { q, capability: can, cursor }),
  )
  const search = (form: HTMLFormElement): void => {
    const data = new FormData(form)
    const [text, capability] = [textOf(data, 'q'), textOf(data, 'can')]
    void navigate({
      to: '/o/$org/$project/$environment/models',
      params: toParams(current),
      search: { ...(text === '' ? {} : { q: text }), ...(capability === '' ? {} : { can: capability }) },
    })
  }
  return (
    <section className="stack" aria-labelledby="catalogue">
      <h2 id="catalogue">Catalogue</h2>
      <form
        key={`${q} ${can}`}
        className="filters"
        role="search"
        aria-label="Find models"
        onSubmit={(event: FormEvent<HTMLFormElement>) => {
          event.preventDefault()
          search(event.currentTarget)
        }}
        onChange={event => {
          if (event.target instanceof HTMLSelectElement) search(event.currentTarget)
        }}
      >
        <TextField label="Name" name="q" type="search" defaultValue={q ?? ''} placeholder="gpt-4o" />
        <SelectField label="Capability" name="can" defaultValue={can ?? ''}>
          <option value="">Any</option>
          {Object.entries(CAPABILITIES).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </SelectField>
        <Button type="submit">Search</Button>
      </form>
      <ListState
        what="Models"
        query={models}
        empty={
          <EmptyState title="No model matches">
            <p>
              You can still call a model that the catalogue lacks by its provider's name for it, or add it
              below.
            </p>
          </EmptyState>
        }
      >
        <CatalogTable models={models.items} />
      </ListState>
    </section>
  )
}

function CatalogTable({ models }: { models: readonly CatalogModel[] }) {
  const current = useEnvironment()
  return (
    <ScrollableTable label="Models" variant="catalog">
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col">State</th>
          <th scope="col" className="wide-only">
            Capabilities
          </th>
          <th scope="col" className="number wide-only">
            Context
          </th>
          <th scope="col" className="number">
            In / out, per million
          </th>
        </tr>
      </thead>
      <tbody>
        {models.map(
          ({ id, provider, display_name, capabilities, context_window, is_callable, ...prices }) => (
            <tr key={id}>
              <td className="text truncate" title={display_name}>
                <ModelId id={id} />
              </td>
              <td>
                {is_callable ? (
                  <span className="chip good">callable</span>
                ) : (
                  <Link to="/o/$org/$project/$environment/providers" params={toParams(current)}>
                    Add key<span className="visually-hidden"> for {provider}</span>
                  </Link>
                )}
              </td>
              <td className="wide-only muted small">{describeCapabilities(capabilities)}</td>
              <td className="number wide-only">{context_window === null ? '–' : toCount(context_window)}</td>
              <td className="number">{toPrices(prices)}</td>
            </tr>
          ),
        )}
      </tbody>
    </ScrollableTable>
  )
}

type Prices = Pick<CatalogModel, 'pricing' | 'image_pricing' | 'audio_pricing' | 'rerank_pricing'>

function toPrices({ pricing, image_pricing, audio_pricing, rerank_pricing }: Prices): string {
  if (pricing !== null)
    return `${toPrice(pricing.input_usd_per_mtok)} / ${toPrice(pricing.output_usd_per_mtok)}`
  if (image_pricing !== null) return 'per image'
  if (rerank_pricing !== null)
    return rerank_pricing.usd_per_search === null
      ? 'per token'
      : `${toPrice(rerank_pricing.usd_per_search)} per search`
  if (audio_pricing === null) return 'unpriced'
  const { usd_per_hour, usd_per_million_characters, audio_input_usd_per_mtok, audio_output_usd_per_mtok } =
    audio_pricing
  if (usd_per_hour !== null) return `${toPrice(usd_per_hour)} per hour`
  if (usd_per_million_characters !== null)
    return `${toPrice(usd_per_million_characters)} per million characters`
  const tokens = audio_output_usd_per_mtok ?? audio_input_usd_per_mtok
  return tokens === null ? 'per token' : `${toPrice(tokens)} of audio`
}
