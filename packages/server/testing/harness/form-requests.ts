import type { AnyPart } from './any-form.ts'

/** Models that transcribe, of providers in both audio formats. */
export const TRANSCRIBERS = [
  'openai/whisper-1',
  'openai/gpt-4o-mini-transcribe',
  'groq/whisper-large-v3',
  'gemini/gemini-2.5-flash',
]

const PNG = '\x89PNG\r\n\x1a\n'
const MP3 = `ID3\x04${'\0'.repeat(36)}`

const texts = (fields: Readonly<Record<string, string>>): AnyPart[] =>
  Object.entries(fields).map(([name, value]) => ({ name, value }))
const aFile = (name: string, value: string, fileName: string, mediaType: string): AnyPart => ({
  ...{ name, value, file: { name: fileName, mediaType } },
})
const SOUND = aFile('file', MP3, 'talk.mp3', 'audio/mpeg')
const PICTURE = aFile('image', PNG, 'a.png', 'image/png')

/** Routes that take forms, with every kind of field that they read. */
export const FORM_REQUESTS: readonly (readonly [route: string, parts: readonly AnyPart[]])[] = [
  ...TRANSCRIBERS.map(
    model =>
      [
        '/openai/v1/audio/transcriptions',
        [
          SOUND,
          ...texts({ model, prompt: 'p', language: 'en', response_format: 'json', temperature: '0.2' }),
        ],
      ] as const,
  ),
  [
    '/openai/v1/audio/transcriptions',
    [
      ...texts({ model: 'groq/whisper-large-v3', response_format: 'verbose_json' }),
      ...texts({ 'timestamp_granularities[]': 'word', user: 'u', end_user: 'e' }),
      ...[{ name: 'timestamp_granularities[]', value: 'segment' }, SOUND],
    ],
  ],
  [
    '/openai/v1/audio/transcriptions',
    [
      ...texts({ model: 'openai/gpt-4o-mini-transcribe', stream: 'true', chunking_strategy: 'auto' }),
      ...texts({ 'include[]': 'logprobs', 'known_speaker_names[]': 'Ann', extra: 'x' }),
      SOUND,
    ],
  ],
  [
    '/openai/v1/audio/translations',
    [...texts({ model: 'openai/whisper-1', prompt: 'p', response_format: 'srt' }), SOUND],
  ],
  [
    '/openai/v1/images/edits',
    [...texts({ model: 'sandbox/image', prompt: 'a fox', user: 'u', extra: 'x' }), PICTURE],
  ],
  [
    '/openai/v1/images/edits',
    [
      ...texts({
        model: 'openai/gpt-image-1',
        prompt: 'a fox',
        n: '1',
        size: '1024x1024',
        quality: 'low',
        end_user: 'e',
      }),
      ...texts({ background: 'opaque', output_format: 'png', stream: 'false' }),
      ...[{ ...PICTURE, name: 'image[]' }, aFile('mask', PNG, 'm.png', 'image/png')],
    ],
  ],
]
