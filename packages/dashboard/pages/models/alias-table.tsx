import { Fragment } from 'react'
import { MenuItem } from '../../controls/menu.tsx'
import { ModelParts } from '../../controls/model-id.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { type Alias, STRATEGIES } from './model-calls.ts'

interface AliasTableProps {
  readonly aliases: readonly Alias[]
  readonly disabledReason: string | undefined
  readonly onChange: (alias: Alias) => void
  readonly onRemove: (alias: Alias) => void
}

export function AliasTable({ aliases, disabledReason, onChange, onRemove }: AliasTableProps) {
  return (
    <ScrollableTable label="Aliases">
      <thead>
        <tr>
          <th scope="col">Alias</th>
          <th scope="col" className="wide-only">
            Answers
          </th>
          <th scope="col">Targets</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {aliases.map(alias => (
          <tr key={alias.id}>
            <td className="name">{alias.alias}</td>
            <td className="wide-only">{STRATEGIES[alias.strategy].name}</td>
            <td className="breaks">
              <Targets alias={alias} />
            </td>
            <td className="number">
              <RowActions name={alias.alias} disabledReason={disabledReason}>
                <MenuItem onSelect={() => onChange(alias)}>Change…</MenuItem>
                <MenuItem isDanger onSelect={() => onRemove(alias)}>
                  Remove…
                </MenuItem>
              </RowActions>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}

function Targets({ alias: { targets, strategy } }: { alias: Alias }) {
  const separator = strategy === 'priority' ? ' → ' : ', '
  return targets.map(({ model, weight }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: an alias can name a model twice.
    <Fragment key={at}>
      {at > 0 && separator}
      <ModelParts id={model} />
      {strategy === 'weighted' && ` × ${weight ?? 1}`}
    </Fragment>
  ))
}
