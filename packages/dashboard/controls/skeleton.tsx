/** Grey placeholder lines. They appear after 150 ms, so that nothing flickers before a fast answer. */
export function Skeleton({ rows = 4, heightPx = 36 }: { rows?: number; heightPx?: number }) {
  return (
    <div role="status" aria-label="Loading" className="stack">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton" style={{ height: heightPx }} />
      ))}
    </div>
  )
}
