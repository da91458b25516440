import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Menu } from './menu.tsx'

interface RowActionsProps {
  /** What the row is about. Screen readers hear `Actions for` it. */
  readonly name: string
  /** Why none of the actions is allowed. */
  readonly disabledReason?: string | undefined
  /** The items of the menu. */
  readonly children: ReactNode
}

/** The menu at the end of a table's row. */
export function RowActions({ name, disabledReason, children }: RowActionsProps) {
  const button = (
    <Button small variant="quiet" disabledReason={disabledReason} aria-label={`Actions for ${name}`}>
      ⋯
    </Button>
  )
  if (disabledReason !== undefined) return button
  return (
    <Menu align="end" trigger={button}>
      {children}
    </Menu>
  )
}
