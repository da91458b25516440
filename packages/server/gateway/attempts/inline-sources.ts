import type { ImageRequest, ImageSource } from '@rideau/llm/images/image-format'
import { toSource } from '@rideau/llm/images/image-request'
import type { RequestContext } from '../request/request-context.ts'
import { type FetchImageDeps, runFetches } from './fetch-image.ts'
import { type FetchedImages, ImageUses } from './image-uses.ts'

/** Images of an edit, by address. */
export type FetchedSources = FetchedImages<ImageSource>

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
  await runFetches(ctx, deps, fetcher => fetchAll(ctx, images, new ImageUses(fetched, fetcher)))
  return {
    ...request,
    images: images.map(image => (image.kind === 'url' ? (fetched.get(image.url)?.content ?? image) : image)),
  }
}

async function fetchAll(
  ctx: RequestContext,
  images: readonly ImageSource[],
  uses: ImageUses<ImageSource>,
): Promise<void> {
  for (const [index, image] of images.entries()) {
    if (image.kind !== 'url') continue
    ctx.assertNotStopped()
    const param = `images[${index}].image_url`
    await uses.add(image.url, param, bytes => toSource(bytes, param))
  }
}
