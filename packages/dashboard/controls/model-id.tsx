import { Fragment } from 'react'

/** Shows a model's id in a table. A long one breaks after its slashes, and within a part only where that is wider than the cell. */
export function ModelId({ id }: { id: string }) {
  return (
    <span className="name">
      <ModelParts id={id} />
    </span>
  )
}

/** The same as running text. */
export function ModelParts({ id }: { id: string }) {
  const parts = id.split('/')
  return parts.map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an id have no other name.
    <Fragment key={at}>
      <span className="model-part">
        {part}
        {at < parts.length - 1 && '/'}
      </span>
      {at < parts.length - 1 && <wbr />}
    </Fragment>
  ))
}
