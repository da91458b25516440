import { type KeyboardEvent, useRef } from 'react'
import { Button } from '../../controls/button.tsx'
import type { Strategy } from './model-calls.ts'

export interface TargetRow {
  /** Identifies the row in the form. */
  readonly id: number
  readonly model: string
  readonly weight: string
  /** Empty for the default. */
  readonly timeoutMs: string
  /** Empty to share the attempts with the other targets. */
  readonly maxRetries: string
}

export const NEW_ROW: TargetRow = { id: 0, model: '', weight: '1', timeoutMs: '', maxRetries: '' }

interface TargetRowsProps {
  readonly rows: readonly TargetRow[]
  readonly strategy: Strategy
  readonly onChange: (rows: readonly TargetRow[]) => void
}

/** The targets of an alias. They can be moved by dragging, by their buttons, or by Alt and an arrow key. */
export function TargetRows({ rows, strategy, onChange }: TargetRowsProps) {
  const list = useRef<HTMLOListElement>(null)
  const dragged = useRef<number>(undefined)
  const set = (index: number, change: Partial<TargetRow>): void =>
    onChange(rows.map((row, position) => (position === index ? { ...row, ...change } : row)))
  const move = (from: number, to: number): void => {
    const row = rows[from]
    if (row === undefined || to < 0 || to >= rows.length || from === to) return
    onChange(rows.toSpliced(from, 1).toSpliced(to, 0, row))
  }
  return (
    <fieldset>
      <legend className="field-label">Targets, in order</legend>
      <ol className="targets" ref={list}>
        {rows.map((row, index) => (
          <li
            key={row.id}
            onDragOver={event => event.preventDefault()}
            onDrop={event => {
              event.preventDefault()
              if (dragged.current !== undefined) move(dragged.current, index)
              dragged.current = undefined
            }}
          >
            <span
              className="grip"
              draggable
              aria-hidden="true"
              title="Drag to move"
              onDragStart={event => {
                dragged.current = index
                event.dataTransfer.setData('text/plain', row.model)
              }}
            >
              ⠿
            </span>
            <input
              className="input"
              aria-label={`Target ${index + 1}`}
              list="models-by-name"
              placeholder="openai/gpt-4o-mini"
              required
              value={row.model}
              onChange={event => set(index, { model: event.target.value })}
              onKeyDown={event => onArrow(event, step => move(index, index + step))}
            />
            {strategy === 'weighted' && (
              <input
                className="input weight"
                aria-label={`Weight of target ${index + 1}`}
                type="number"
                min={0}
                max={1000}
                required
                value={row.weight}
                onChange={event => set(index, { weight: event.target.value })}
              />
            )}
            <RowButtons
              index={index}
              count={rows.length}
              onMove={to => move(index, to)}
              onRemove={() => onChange(rows.toSpliced(index, 1))}
            />
            <AttemptFields row={row} index={index} onChange={change => set(index, change)} />
          </li>
        ))}
      </ol>
      <Hint rows={rows} strategy={strategy} />
      <Button
        small
        onClick={() => onChange(addRow(rows))}
        disabledReason={rows.length >= 20 ? 'An alias has at most 20 targets.' : undefined}
      >
        Add target
      </Button>
    </fieldset>
  )
}

interface AttemptFieldsProps {
  readonly row: TargetRow
  readonly index: number
  readonly onChange: (change: Partial<TargetRow>) => void
}

function AttemptFields({ row, index, onChange }: AttemptFieldsProps) {
  return (
    <div className="attempts small muted">
      <label>
        Timeout in ms
        <input
          className="input"
          aria-label={`Timeout in ms of target ${index + 1}`}
          type="number"
          min={1_000}
          max={3_600_000}
          placeholder="300000"
          value={row.timeoutMs}
          onChange={event => onChange({ timeoutMs: event.target.value })}
        />
      </label>
      <label>
        Retries
        <input
          className="input"
          aria-label={`Retries of target ${index + 1}`}
          type="number"
          min={0}
          max={10}
          placeholder="shared"
          value={row.maxRetries}
          onChange={event => onChange({ maxRetries: event.target.value })}
        />
      </label>
    </div>
  )
}

interface RowButtonsProps {
  readonly index: number
  readonly count: number
  readonly onMove: (to: number) => void
  readonly onRemove: () => void
}

function RowButtons({ index, count, onMove, onRemove }: RowButtonsProps) {
  return (
    <>
      <Button
        small
        variant="quiet"
        aria-label={`Move target ${index + 1} up`}
        disabledReason={index === 0 ? 'It is already the first.' : undefined}
        onClick={() => onMove(index - 1)}
      >
        ↑
      </Button>
      <Button
        small
        variant="quiet"
        aria-label={`Move target ${index + 1} down`}
        disabledReason={index === count - 1 ? 'It is already the last.' : undefined}
        onClick={() => onMove(index + 1)}
      >
        ↓
      </Button>
      <Button
        small
        variant="quiet"
        aria-label={`Remove target ${index + 1}`}
        disabledReason={count === 1 ? 'An alias needs at least one target.' : undefined}
        onClick={onRemove}
      >
        ✕
      </Button>
    </>
  )
}

function addRow(rows: readonly TargetRow[]): readonly TargetRow[] {
  const id = Math.max(...rows.map(({ id }) => id)) + 1
  return [...rows, { ...NEW_ROW, id }]
}

function Hint({ rows, strategy }: Pick<TargetRowsProps, 'rows' | 'strategy'>) {
  const total = rows.reduce((sum, { weight }) => sum + (Number(weight) || 0), 0)
  return (
    <p className="hint muted small">
      Alt and an arrow key also move a target.
      {strategy === 'weighted' &&
        total > 0 &&
        ` Shares: ${rows.map(({ weight }) => `${Math.round((100 * (Number(weight) || 0)) / total)} %`).join(', ')}.`}
    </p>
  )
}

/** Calls `move` with -1 or 1 if Alt and an arrow key are pressed. */
function onArrow(event: KeyboardEvent, move: (step: number) => void): void {
  const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
  if (!event.altKey || step === 0) return
  event.preventDefault()
  move(step)
}
