import {
  CONTENTS,
  CONTENT as PASSED_CONTENT,
  CONTENTS as PASSED_CONTENTS,
} from '../formats/gemini-content/wire/content-rules.ts'
import { SAFETY_SETTINGS } from '../formats/gemini-content/wire/fields.ts'
import {
  ADDRESS,
  CHOICES,
  FieldRules,
  forEndUsers,
  forKeys,
  MEDIA,
  MODEL,
  SCALAR,
  SINGLE,
  STORED,
  toListRule,
  toObjectRule,
  toTextOrRule,
  toUsualRule,
} from '../upstream/outgoing-rules.ts'

/** What may go out in each format of images. Only a body in OpenAI's shape has fields that the gateway did not write. */

const IMAGE_URL = toTextOrRule(toObjectRule({ url: ADDRESS }, 'refused'), ADDRESS)
const SOURCE = toObjectRule({ type: SCALAR, url: ADDRESS, image_url: IMAGE_URL, file_id: STORED }, 'refused')

export const OPENAI_RULES = new FieldRules(
  Object.entries({
    model: MODEL,
    prompt: SCALAR,
    n: CHOICES,
    size: SINGLE,
    quality: SINGLE,
    response_format: SCALAR,
    background: SCALAR,
    output_format: SCALAR,
    output_compression: SCALAR,
    style: forEndUsers(toUsualRule(['vivid', 'natural'])),
    user: SCALAR,
    images: toListRule(SOURCE),
    mask: SOURCE,
    // Providers' other words for size and images.
    width: SINGLE,
    height: SINGLE,
    aspect_ratio: SINGLE,
    input_references: toListRule(SOURCE),
    image_url: ADDRESS,
  }),
  'reserved',
)

export const FIREWORKS_RULES = new FieldRules(
  Object.entries({ prompt: SCALAR, aspect_ratio: SINGLE }),
  'refused',
)

const REFERENCE = toObjectRule(
  {
    referenceType: SCALAR,
    referenceId: SCALAR,
    referenceImage: toObjectRule({ bytesBase64Encoded: MEDIA }, 'refused'),
  },
  'refused',
)

/** The fields of `:predict` and `:generateContent`. The path names the model. */
export const GOOGLE_RULES = new FieldRules(
  Object.entries({
    instances: toListRule(
      toObjectRule({ prompt: SCALAR, referenceImages: toListRule(REFERENCE) }, 'refused'),
    ),
    parameters: toObjectRule(
      {
        sampleCount: CHOICES,
        aspectRatio: SINGLE,
        imageSize: SINGLE,
        outputOptions: toObjectRule({ mimeType: SCALAR }, 'refused'),
      },
      'refused',
    ),
    contents: CONTENTS,
    generationConfig: toObjectRule(
      {
        responseModalities: toListRule(toUsualRule(['IMAGE'])),
        imageConfig: toObjectRule({ aspectRatio: SINGLE, imageSize: SINGLE }, 'refused'),
      },
      'refused',
    ),
  }),
  'refused',
)

/** The fields of a caller's own body of `:generateContent`. */
export const PASSED_GOOGLE_RULES = new FieldRules(
  Object.entries({
    contents: PASSED_CONTENTS,
    systemInstruction: PASSED_CONTENT,
    safetySettings: forKeys(SAFETY_SETTINGS),
    generationConfig: toObjectRule(
      {
        responseModalities: toListRule(toUsualRule(['TEXT', 'IMAGE'])),
        imageConfig: toObjectRule({ aspectRatio: SINGLE, imageSize: SINGLE }, 'refused'),
        temperature: SCALAR,
        topP: SCALAR,
        topK: SCALAR,
        seed: SCALAR,
        maxOutputTokens: SCALAR,
      },
      'refused',
    ),
  }),
  'refused',
)

/** The fields of the models of each maker on Bedrock. The path names the model. */
export const BEDROCK_RULES = new FieldRules(
  Object.entries({
    taskType: SCALAR,
    textToImageParams: toObjectRule({ text: SCALAR }, 'refused'),
    imageVariationParams: toObjectRule({ text: SCALAR, images: MEDIA }, 'refused'),
    imageGenerationConfig: toObjectRule(
      { numberOfImages: CHOICES, width: SINGLE, height: SINGLE, quality: SINGLE },
      'refused',
    ),
    prompt: SCALAR,
    aspect_ratio: SINGLE,
    output_format: SCALAR,
  }),
  'refused',
)
