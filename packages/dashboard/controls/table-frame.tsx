import type { ReactNode, RefObject } from 'react'

interface TableFrameProps {
  /** What the table lists. */
  readonly label: string
  /** Of its look, besides what all tables have. */
  readonly look?: 'rules' | 'logs'
  readonly frame?: RefObject<HTMLElement | null>
  /** The table's head and its body. */
  readonly children: ReactNode
}

/** A table that scrolls sideways where it is too wide, also by keyboard. */
export function TableFrame({ label, look, frame, children }: TableFrameProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard.
    <section ref={frame} className="table-frame" aria-label={label} tabIndex={0}>
      <table className={look === undefined ? 'table' : `table ${look}`}>{children}</table>
    </section>
  )
}
