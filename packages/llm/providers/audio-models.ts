import type { CatalogModel, Capability } from '../provider/catalog-model.ts'
import type { AudioPrices } from '../provider/prices.ts'

function toModel(id: string, capability: Capability, prices: AudioPrices): CatalogModel {
  return {
    id,
    display_name: id,
    context_window: null,
    max_output_tokens: null,
    capabilities: [capability],
    audio_pricing: prices,
    pricing: null,
  }
}

const FULL: AudioPrices = { text_input: 2.5, audio_input: 2.5, text_output: 10 }
const MINI: AudioPrices = { text_input: 1.25, audio_input: 1.25, text_output: 5 }
/** Two public lists differ on its input, 0.60 and 2.50: this is the higher one. */
const SPOKEN: AudioPrices = { text_input: 2.5, audio_output: 12 }

/**
 * OpenAI's models for speech, with the prices of developers.openai.com/api/docs/models and of litellm's list (2026-06-04).
 * Written by hand: the tool that makes catalog/ reads models of text and images only.
 */
const OPENAI_MODELS: readonly CatalogModel[] = [
  toModel('gpt-4o-mini-transcribe', 'transcription', MINI),
  toModel('gpt-4o-mini-transcribe-2025-03-20', 'transcription', MINI),
  toModel('gpt-4o-mini-transcribe-2025-12-15', 'transcription', MINI),
  toModel('gpt-4o-mini-tts', 'speech', SPOKEN),
  toModel('gpt-4o-mini-tts-2025-03-20', 'speech', SPOKEN),
  toModel('gpt-4o-mini-tts-2025-12-15', 'speech', SPOKEN),
  toModel('gpt-4o-transcribe', 'transcription', FULL),
  toModel('gpt-4o-transcribe-diarize', 'transcription', FULL),
  toModel('tts-1', 'speech', { per_million_characters: 15 }),
  toModel('tts-1-hd', 'speech', { per_million_characters: 30 }),
  toModel('whisper-1', 'transcription', { per_hour: 0.36 }),
]

/** Azure's, by litellm's list (2026-06-04). The model's name is `whisper` there; a deployment may have any. */
const AZURE_MODELS: readonly CatalogModel[] = [
  toModel('gpt-4o-mini-transcribe', 'transcription', MINI),
  toModel('gpt-4o-mini-tts', 'speech', SPOKEN),
  toModel('gpt-4o-transcribe', 'transcription', FULL),
  toModel('gpt-4o-transcribe-diarize', 'transcription', FULL),
  toModel('tts-1', 'speech', { per_million_characters: 15 }),
  toModel('tts-1-hd', 'speech', { per_million_characters: 30 }),
  toModel('whisper', 'transcription', { per_hour: 0.36 }),
  toModel('whisper-1', 'transcription', { per_hour: 0.36 }),
]

/** Groq's: console.groq.com/docs/speech-to-text. Ten seconds are the least it bills. */
const GROQ_MODELS: readonly CatalogModel[] = [
  toModel('whisper-large-v3', 'transcription', { per_hour: 0.111, min_seconds: 10 }),
  toModel('whisper-large-v3-turbo', 'transcription', { per_hour: 0.04, min_seconds: 10 }),
]

export const AUDIO_MODELS = { openai: OPENAI_MODELS, azure: AZURE_MODELS, groq: GROQ_MODELS } as const
