export type ImageFormatId = 'openai-images' | 'google-images' | 'bedrock-images' | 'fireworks-workflow'

/** How a provider's image models are reached: data in its file. */
export interface ImageService {
  readonly format: ImageFormatId
  /** With format `openai-images`: where it departs from OpenAI's own. */
  readonly openai?: OpenAiImageDeviations
}

export interface OpenAiImageDeviations {
  /** The path after the base address. Default `/images/generations`. */
  readonly path?: string
  /** The path of edits. Default `/images/edits`. */
  readonly editPath?: string
  /**
   * How an edit sends its images. Absent: as a multipart form, or in JSON where one is named by its address. Else in JSON:
   * `image_url`: `images: [{ image_url }]`; `typed`: `images: [{ type, url }]`; `input_references`: chat's image parts
   * under that name; `single`: one, as `image_url`.
   */
  readonly editImages?: 'image_url' | 'typed' | 'input_references' | 'single'
  /** Images that one call makes. Default 10. */
  readonly maxImages?: number
  /** Takes `width` and `height` for `size`. */
  readonly splitsSize?: true
  /** Takes no `size`, but one of these shapes as `aspect_ratio`. */
  readonly aspectRatios?: readonly string[]
  /** The provider's word for `response_format: b64_json`. */
  readonly base64?: string
  /** Parameters that it refuses or ignores, by their OpenAI names. */
  readonly unsupported?: readonly string[]
}
