export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** `1024x1536` as numbers; undefined: `auto`, nothing, or no size at all. */
export function parseSize(size: string | undefined): ImageSize | undefined {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size ?? '')
  return match === null ? undefined : { width: Number(match[1]), height: Number(match[2]) }
}

/** How far a shape may be from the one that was asked for: OpenAI's 1792x1024 is what others call 16:9. */
const TOLERANCE = 0.03

/** The one of a provider's aspect ratios that a size has; undefined: none. */
export function findAspectRatio({ width, height }: ImageSize, ratios: readonly string[]): string | undefined {
  const requestedRatio = width / height
  const far = (ratio: string): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number)
    return Math.abs(Math.log(requestedRatio / (across / down)))
  }
  const [nearest] = [...ratios].sort((a, b) => far(a) - far(b))
  return nearest !== undefined && far(nearest) <= TOLERANCE ? nearest : undefined
}
