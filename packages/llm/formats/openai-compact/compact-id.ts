/** The id of the format of compactions, which only OpenAI answers. */
export const COMPACT_ID = 'openai-compact'
