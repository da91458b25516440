import { Fragment } from 'react'

/** A model's id as a name in a table, which breaks behind its slashes where it must break. */
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
