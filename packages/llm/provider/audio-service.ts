/** How a provider's speech models are reached: data in its file. */
export interface AudioService {
  /**
   * `openai-audio`: `/audio/transcriptions`, `/audio/translations` and `/audio/speech` as OpenAI has them. `gemini-audio`:
   * models of `:generateContent` are asked to write what they hear, or for audio instead of words.
   */
  readonly format: 'openai-audio' | 'gemini-audio'
  /**
   * A JSON transcript tells how long the audio was, or what tokens it took. Absent: only a `verbose_json` one does, as
   * Groq's.
   */
  readonly countsInJson?: true
  /** True if the speech models except `tts-1` report usage, in a stream of events. Absent: they answer with bytes only. */
  readonly streamsSpeech?: true
}
