import type { ReactNode, RefObject } from 'react'

interface ScrollableTableProps {
  /** What the table lists. */
  readonly label: string
  /** A class of the table besides `table`. */
  readonly variant?: 'rules' | 'logs' | 'plans' | 'catalog'
  readonly containerRef?: RefObject<HTMLElement | null>
  /** The table's head and its body. */
  readonly children: ReactNode
}

/** A table that scrolls horizontally if it is too wide, also by keyboard. */
export function ScrollableTable({ label, variant, containerRef, children }: ScrollableTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard.
    <section ref={containerRef} className="table-container" aria-label={label} tabIndex={0}>
      <table className={variant === undefined ? 'table' : `table ${variant}`}>{children}</table>
    </section>
  )
}
