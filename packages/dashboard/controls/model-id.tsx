import { Fragment } from 'react'

/** Shows a model's id in a table. A long one breaks after its slashes. */
export function ModelId({ id }: { id: string }) {
  const [first, ...rest] = id.split('/')
  return (
    <span className="name">
      {first}
      {rest.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an id have no other name.
        <Fragment key={at}>
          /<wbr />
          {part}
        </Fragment>
      ))}
    </span>
  )
}
