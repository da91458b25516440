import { Button } from '../../controls/button.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { type Alias, STRATEGIES } from './model-calls.ts'

interface AliasTableProps {
  readonly aliases: readonly Alias[]
  readonly objection: string | undefined
  readonly onChange: (alias: Alias) => void
  readonly onRemove: (alias: Alias) => void
}

export function AliasTable({ aliases, objection, onChange, onRemove }: AliasTableProps) {
  return (
    <TableFrame label="Aliases">
      <thead>
        <tr>
          <th scope="col">Alias</th>
          <th scope="col" className="wide">
            Answers
          </th>
          <th scope="col">Targets</th>
          <th scope="col">
            <span className="only-heard">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {aliases.map(alias => (
          <tr key={alias.id}>
            <td className="name">{alias.alias}</td>
            <td className="wide">{STRATEGIES[alias.strategy].name}</td>
            <td className="breaks">{toTargets(alias)}</td>
            <td className="number">
              <Button
                small
                look="quiet"
                objection={objection}
                aria-label={`Change ${alias.alias}`}
                onClick={() => onChange(alias)}
              >
                Change
              </Button>
              <Button
                small
                look="quiet"
                objection={objection}
                aria-label={`Remove ${alias.alias}`}
                onClick={() => onRemove(alias)}
              >
                Remove
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  )
}

function toTargets({ targets, strategy }: Alias): string {
  if (strategy === 'weighted')
    return targets.map(({ model, weight }) => `${model} × ${weight ?? 1}`).join(', ')
  return targets.map(({ model }) => model).join(strategy === 'priority' ? ' → ' : ', ')
}
