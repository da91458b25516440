import type { Capability, CatalogFile, CatalogModel } from '../provider/catalog-model.ts'
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

/** Google's, by ai.google.dev/gemini-api/docs/pricing (2026-10). */
const GEMINI_MODELS: readonly CatalogModel[] = [
  toModel('gemini-2.5-flash-preview-tts', 'speech', { text_input: 0.5, audio_output: 10 }),
  toModel('gemini-2.5-pro-preview-tts', 'speech', { text_input: 1, audio_output: 20 }),
]

export const AUDIO_MODELS = {
  openai: OPENAI_MODELS,
  azure: AZURE_MODELS,
  groq: GROQ_MODELS,
  gemini: GEMINI_MODELS,
} as const

/**
 * The catalogue of a provider whose models of text write down what they hear. Only those whose price for audio is known and the same
 * for every length.
 */
export function withTranscripts(file: CatalogFile): CatalogFile {
  return { ...file, models: file.models.map(toHearing) }
}

function toHearing(model: CatalogModel): CatalogModel {
  const { pricing, capabilities, inputs } = model
  if (inputs?.includes('audio') !== true || pricing === null) return model
  if (pricing.audio_input === undefined || pricing.long_context !== undefined) return model
  return {
    ...model,
    capabilities: [...capabilities, 'transcription'],
    audio_pricing: {
      text_input: pricing.input,
      audio_input: pricing.audio_input,
      text_output: pricing.output,
    },
  }
}
