import type { Difference } from '../format/to-diff.ts'

/** Shows the changed fields of a record, before and after. */
export function DiffTable({ differences }: { differences: readonly Difference[] }) {
  if (differences.length === 0) return <p className="muted">No fields changed.</p>
  return (
    <table className="table diff">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td>{before === undefined ? <span className="muted">–</span> : <del>{before}</del>}</td>
            <td>{after === undefined ? <span className="muted">–</span> : <ins>{after}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
