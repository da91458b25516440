import { MenuItem } from '../../controls/menu.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { toCount } from '../../format/amounts.ts'
import { toPrice } from '../../format/money.ts'
import { type CustomModel, describeCapabilities } from './model-calls.ts'

interface CustomModelTableProps {
  readonly models: readonly CustomModel[]
  readonly disabledReason: string | undefined
  readonly onChange: (model: CustomModel) => void
  readonly onRemove: (model: CustomModel) => void
}

export function CustomModelTable({ models, disabledReason, onChange, onRemove }: CustomModelTableProps) {
  return (
    <ScrollableTable label="Your own models">
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col" className="wide-only">
            Capabilities
          </th>
          <th scope="col" className="number wide-only">
            Context
          </th>
          <th scope="col" className="number">
            In / out, per million
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {models.map(model => (
          <tr key={model.id}>
            <td className="text truncate name">{model.model}</td>
            <td className="wide-only muted small">{describeCapabilities(model.capabilities)}</td>
            <td className="number wide-only">
              {model.context_window === null ? '–' : toCount(model.context_window)}
            </td>
            <td className="number">
              {model.pricing === null
                ? 'unpriced'
                : `${toPrice(model.pricing.input_usd_per_mtok)} / ${toPrice(model.pricing.output_usd_per_mtok)}`}
            </td>
            <td className="number">
              <RowActions name={model.model} disabledReason={disabledReason}>
                <MenuItem onSelect={() => onChange(model)}>Change…</MenuItem>
                <MenuItem isDanger onSelect={() => onRemove(model)}>
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
