import type { ImageRequest, ImageSource } from '@rideau/llm/images/image-format'
import { toSource } from '@rideau/llm/images/image-request'
import type { RequestContext } from '../request/request-context.ts'
import { type FetchImage, type FetchImageDeps, runFetches } from './fetch-image.ts'

/** Limit on all images of a request together. Providers accept about this much in one body. */
const MAX_BYTES = 20 * 1024 * 1024

/** Fetched images, by address. Fetched once for all attempts. */
export type FetchedSources = Map<string, ImageSource>

/**
 * Returns an edit request with every image that it names by address inlined, for providers that do not fetch images.
 */
export async function inlineSources(
  ctx: RequestContext,
  request: ImageRequest,
  fetched: FetchedSources,
  deps: FetchImageDeps,
): Promise<ImageRequest> {
  const { images } = request
  if (images?.some(({ kind }) => kind === 'url') !== true) return request
  await runFetches(ctx, deps, fetchImage => fetchAll(ctx, images, fetched, fetchImage))
  return {
    ...request,
    images: images.map(image => (image.kind === 'url' ? (fetched.get(image.url) ?? image) : image)),
  }
}

async function fetchAll(
  ctx: RequestContext,
  images: readonly ImageSource[],
  fetched: FetchedSources,
  fetchImage: FetchImage,
): Promise<void> {
  let remainingBytes = MAX_BYTES
  for (const [index, image] of images.entries()) {
    if (image.kind !== 'url' || fetched.has(image.url)) continue
    ctx.assertNotStopped()
    const param = `images[${index}].image_url`
    const bytes = await fetchImage(image.url, param, remainingBytes)
    remainingBytes -= bytes.length
    fetched.set(image.url, toSource(bytes, param))
  }
}
