import { Button } from '../../controls/button.tsx'
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
            <td className="breaks">{toTargets(alias)}</td>
            <td className="number">
              <Button
                small
                variant="quiet"
                disabledReason={disabledReason}
                aria-label={`Change ${alias.alias}`}
                onClick={() => onChange(alias)}
              >
                Change
              </Button>
              <Button
                small
                variant="quiet"
                disabledReason={disabledReason}
                aria-label={`Remove ${alias.alias}`}
                onClick={() => onRemove(alias)}
              >
                Remove
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}

function toTargets({ targets, strategy }: Alias): string {
  if (strategy === 'weighted')
    return targets.map(({ model, weight }) => `${model} × ${weight ?? 1}`).join(', ')
  return targets.map(({ model }) => model).join(strategy === 'priority' ? ' → ' : ', ')
}
