import { useId, useState } from 'react'
import { Button } from '../../controls/button.tsx'

/** The most bytes of one image. A request with a few of them stays well below the gateway's limit. */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_IMAGES = 4

interface ImageFieldProps {
  /** Data URLs. */
  readonly images: readonly string[]
  readonly onChange: (images: readonly string[]) => void
}

/** Chooses images for the next prompt. They stay in the memory of the page. */
export function ImageField({ images, onChange }: ImageFieldProps) {
  const id = useId()
  const [problem, setProblem] = useState<string>()
  const add = async (files: readonly File[]): Promise<void> => {
    const taken = files.filter(({ size }) => size <= MAX_BYTES).slice(0, MAX_IMAGES - images.length)
    setProblem(
      taken.length === files.length ? undefined : `At most ${MAX_IMAGES} images of 4 MB each can be added.`,
    )
    onChange([...images, ...(await Promise.all(taken.map(toDataUrl)))])
  }
  return (
    <div className="images">
      <label className="button small" htmlFor={id}>
        Add images
      </label>
      <input
        id={id}
        className="visually-hidden"
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        multiple
        onChange={event => {
          const files = [...(event.target.files ?? [])]
          // Without this, choosing the same file again would fire no event.
          event.target.value = ''
          void add(files)
        }}
      />
      {images.map((url, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an image has no other name.
        <span key={index} className="chosen-image">
          <img src={url} alt={`Chosen image ${index + 1}`} />
          <Button
            small
            variant="quiet"
            aria-label={`Remove image ${index + 1}`}
            onClick={() => onChange(images.filter((_, at) => at !== index))}
          >
            ✕
          </Button>
        </span>
      ))}
      {problem !== undefined && (
        <span role="alert" className="small">
          {problem}
        </span>
      )}
    </div>
  )
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error('The image could not be read.'))
    reader.readAsDataURL(file)
  })
}
