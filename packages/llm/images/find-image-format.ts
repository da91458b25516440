import type { ImageFormatId } from '../provider/image-service.ts'
import type { Provider } from '../provider/provider.ts'
import { bedrockImages } from './bedrock.ts'
import { fireworksImages } from './fireworks.ts'
import { googleImages } from './google.ts'
import type { ImageFormat } from './image-format.ts'
import { openAiImages } from './openai.ts'

const FORMATS: Readonly<Record<ImageFormatId, ImageFormat>> = {
  'openai-images': openAiImages,
  'google-images': googleImages,
  'bedrock-images': bedrockImages,
  'fireworks-workflow': fireworksImages,
}

/** How a provider's images are called; undefined: it makes none. */
export function findImageFormat({ images }: Provider): ImageFormat | undefined {
  return images === undefined ? undefined : FORMATS[images.format]
}
