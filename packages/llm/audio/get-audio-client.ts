import type { AudioService } from '../provider/audio-service.ts'
import type { AudioClient } from './audio-client.ts'
import { geminiAudio } from './gemini-audio.ts'
import { openAiAudio } from './openai-audio.ts'

const CLIENTS: Readonly<Record<AudioService['format'], AudioClient>> = {
  'openai-audio': openAiAudio,
  'gemini-audio': geminiAudio,
}

export function getAudioClient({ format }: AudioService): AudioClient {
  return CLIENTS[format]
}
