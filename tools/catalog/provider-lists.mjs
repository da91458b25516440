/**
 * Rideau's provider id → its names in the three lists. `lite` is litellm's provider, `prefix` what it puts before a model's
 * name; `gen` is genai-prices' provider; `makersPrice` names the models of a cloud that have their maker's price.
 */
export const PROVIDERS = {
  openai: { dev: ['openai'], lite: ['openai'], gen: 'openai', onResponses: true },
  azure: {
    dev: ['azure'],
    lite: ['azure'],
    prefix: 'azure/',
    gen: 'azure',
    makersPrice: /^claude-/,
    onResponses: true,
  },
  anthropic: { dev: ['anthropic'], lite: ['anthropic'], gen: 'anthropic' },
  gemini: { dev: ['google'], lite: ['gemini'], prefix: 'gemini/', gen: 'google' },
  vertex: {
    dev: ['google-vertex', 'google-vertex-anthropic'],
    lite: [
      'vertex_ai-language-models',
      'vertex_ai-anthropic_models',
      'vertex_ai-embedding-models',
      'vertex_ai-image-models',
      'vertex_ai',
    ],
    prefix: 'vertex_ai/',
    gen: 'google',
    makersPrice: /^claude-/,
  },
  bedrock: { dev: ['amazon-bedrock'], lite: ['bedrock', 'bedrock_converse'], gen: 'aws' },
  mistral: { dev: ['mistral'], lite: ['mistral'], prefix: 'mistral/', gen: 'mistral' },
  groq: { dev: ['groq'], lite: ['groq'], prefix: 'groq/', gen: 'groq' },
  deepseek: { dev: ['deepseek'], lite: ['deepseek'], prefix: 'deepseek/', gen: 'deepseek' },
  xai: { dev: ['xai'], lite: ['xai'], prefix: 'xai/', gen: 'x-ai' },
  cohere: { dev: ['cohere'], lite: ['cohere', 'cohere_chat'], prefix: 'cohere/', gen: 'cohere' },
  together: { dev: ['togetherai'], lite: ['together_ai'], prefix: 'together_ai/', gen: 'together' },
  fireworks: {
    dev: ['fireworks-ai'],
    lite: ['fireworks_ai-embedding-models'],
    prefix: 'fireworks_ai/',
    gen: 'fireworks',
  },
  openrouter: { dev: ['openrouter'], lite: [], prefix: 'openrouter/', gen: 'openrouter' },
  perplexity: { dev: ['perplexity'], lite: ['perplexity'], prefix: 'perplexity/', gen: 'perplexity' },
  cerebras: { dev: ['cerebras'], lite: ['cerebras'], prefix: 'cerebras/', gen: 'cerebras' },
  moonshot: { dev: ['moonshotai'], lite: ['moonshot'], prefix: 'moonshot/', gen: 'moonshotai' },
  zai: { dev: ['zai'], lite: ['zai'], prefix: 'zai/', gen: 'zhipuai' },
  alibaba: { dev: ['alibaba'], lite: ['dashscope'], prefix: 'dashscope/' },
  nvidia: { dev: ['nvidia'], lite: [] },
  huggingface: { dev: ['huggingface'], lite: [] },
  voyage: { dev: [], lite: ['voyage'], prefix: 'voyage/', gen: 'voyageai', genOnly: true },
}

/** Rerankers that litellm lists under a cloud that sells them for their maker's price. */
export const RERANKERS = {
  cohere: {
    'rerank-v4.0-pro': 'azure_ai/cohere-rerank-v4.0-pro',
    'rerank-v4.0-fast': 'azure_ai/cohere-rerank-v4.0-fast',
  },
}

/**
 * Models that only the price list has, because it is the newest: capabilities, names and limits are those of their
 * predecessor. Checked by hand against the announcements when the list is updated.
 */
export const SUCCESSORS = {
  anthropic: { 'claude-opus-5': 'claude-opus-4-8' },
  bedrock: {
    'anthropic.claude-opus-5': 'anthropic.claude-opus-4-8',
    'global.anthropic.claude-opus-5': 'global.anthropic.claude-opus-4-8',
    'us.anthropic.claude-opus-5': 'us.anthropic.claude-opus-4-8',
    'eu.anthropic.claude-opus-5': 'eu.anthropic.claude-opus-4-8',
  },
  vertex: {
    'claude-opus-5': 'claude-opus-4-8@default',
    'claude-fable-5': 'claude-opus-4-8@default',
    'gemini-3.6-flash': 'gemini-3.5-flash',
    'gemini-3.5-flash-lite': 'gemini-3.1-flash-lite',
  },
  openai: { 'gpt-5.6-sol': 'gpt-5.5', 'gpt-5.6-terra': 'gpt-5.5', 'gpt-5.6-luna': 'gpt-5.5' },
  gemini: { 'gemini-3.6-flash': 'gemini-3.5-flash', 'gemini-3.5-flash-lite': 'gemini-3.1-flash-lite' },
  xai: { 'grok-4.5': 'grok-4.3' },
  moonshot: { 'kimi-k3': 'kimi-k2.6' },
}

/**
 * USD for a request to a model that always searches the web, where no list has the fee: that of Perplexity itself, for its largest
 * search context. null: it searches as often as it likes and pays for what it reads, so that nothing bounds what a request costs.
 */
export const SEARCH_FEES = {
  perplexity: { 'sonar-deep-research': null },
  openrouter: {
    'perplexity/sonar': 0.012,
    'perplexity/sonar-pro': 0.014,
    'perplexity/sonar-reasoning-pro': 0.014,
    'perplexity/sonar-pro-search': null,
    'perplexity/sonar-deep-research': null,
  },
}

/**
 * USD per million tokens of images at OpenRouter, whose list has the price of text only: that of the maker for the same model. A model that is not
 * here has no known price.
 */
export const IMAGE_OUTPUT = {
  openrouter: {
    'google/gemini-2.5-flash-image': 30,
    'google/gemini-3-pro-image': 120,
    'google/gemini-3-pro-image-preview': 120,
    'google/gemini-3.1-flash-image': 60,
    'google/gemini-3.1-flash-image-preview': 60,
    'openai/gpt-5-image': 40,
    'openai/gpt-5-image-mini': 8,
    'openai/gpt-5.4-image-2': 30,
  },
}
