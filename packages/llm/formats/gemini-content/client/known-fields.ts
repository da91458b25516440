import { toOwnNames } from '../../../upstream/outgoing-body.ts'

/** Fields that the gateway checks before it passes them on. */
export const OWN_NAMES = toOwnNames(
  [
    'contents',
    'systemInstruction',
    'tools',
    'toolConfig',
    'safetySettings',
    'cachedContent',
    'labels',
    'serviceTier',
  ],
  {
    generationConfig: [
      'maxOutputTokens',
      'candidateCount',
      'responseModalities',
      'responseSchema',
      'responseJsonSchema',
    ],
  },
)
