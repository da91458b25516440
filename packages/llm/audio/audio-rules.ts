import {
  FieldRules,
  MEDIA,
  MODEL,
  SCALAR,
  STORED,
  toObjectRule,
  toTextOrRule,
  toUsualRule,
} from '../upstream/outgoing-rules.ts'

/** What may go out beside the file of a transcription or translation. */
export const TRANSCRIPTION_RULES = new FieldRules(
  Object.entries({
    model: MODEL,
    language: SCALAR,
    languages: SCALAR,
    prompt: SCALAR,
    keywords: SCALAR,
    response_format: SCALAR,
    temperature: SCALAR,
    include: SCALAR,
    timestamp_granularities: SCALAR,
    // A form says it as JSON.
    chunking_strategy: SCALAR,
    known_speaker_names: SCALAR,
    known_speaker_references: MEDIA,
    // The answer is read as a whole, since its usage is at its end.
    stream: toUsualRule([false]),
    file_id: STORED,
  }),
  'reserved',
)

export const SPEECH_RULES = new FieldRules(
  Object.entries({
    model: MODEL,
    input: SCALAR,
    voice: toTextOrRule(toObjectRule({ id: STORED }, 'refused')),
    instructions: SCALAR,
    response_format: SCALAR,
    speed: SCALAR,
    stream_format: SCALAR,
  }),
  'reserved',
)
