import { GEMINI_MOUNT, GEMINI_NAMED } from '../../formats/gemini-content/format.ts'
import type { Mount } from '../../formats/shared/reading/mount.ts'
import type { ImageServer } from '../image-server.ts'
import { geminiImageEvents, geminiImageList, geminiImages, IMAGE_MODELS } from './gemini.ts'

/** A path on which callers ask for images in another format than OpenAI's. It begins behind the mount's prefix. */
export interface ImageRoute {
  readonly mount: Mount
  readonly path: string
  /** The names of models that it serves: the same path serves chats. */
  readonly models: RegExp
  readonly server: ImageServer
  /** Answers in place of `server` where the query asks for it. */
  readonly whenQuery?: { readonly name: string; readonly value: string; readonly server: ImageServer }
}

export const IMAGE_ROUTES: readonly ImageRoute[] = GEMINI_NAMED.flatMap((path): ImageRoute[] => {
  const common = { mount: GEMINI_MOUNT, models: IMAGE_MODELS }
  return [
    { ...common, path: `${path}/*:generateContent`, server: geminiImages },
    {
      ...common,
      path: `${path}/*:streamGenerateContent`,
      server: geminiImageList,
      whenQuery: { name: 'alt', value: 'sse', server: geminiImageEvents },
    },
  ]
})
