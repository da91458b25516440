// Prices of tools that providers run, which no model list has in full: by hand, each with its source. A tool that is not here
// is left out of requests. `types` are the types by which a request asks for it. See docs/decisions/0013-catalogue.md.

const OPENAI = "OpenAI's price list (developers.openai.com/api/docs/pricing), 2026-09"
const OPENAI_SEARCHES = ['web_search', 'web_search_2025_08_26']
const searchAt = (models, usd, source) => ({
  tool: 'web_search',
  types: OPENAI_SEARCHES,
  ...(models === undefined ? {} : { models }),
  per: 'use',
  usd,
  source,
})

/** The content of a search is billed by its tokens, except for two models, where it costs as much as 8,000 tokens of input. */
const OPENAI_TOOLS = [
  searchAt(['gpt-4o-mini*'], 0.0112, `${OPENAI}: $10 per 1,000 calls and 8,000 input tokens a call`),
  searchAt(['gpt-4.1-mini*'], 0.0132, `${OPENAI}: $10 per 1,000 calls and 8,000 input tokens a call`),
  searchAt(undefined, 0.01, `${OPENAI}: $10 per 1,000 calls`),
  {
    tool: 'code_interpreter',
    types: ['code_interpreter'],
    per: 'use',
    usd: 0.03,
    source: `${OPENAI}; litellm, openai/container: a container of 1 GB for 20 minutes`,
  },
]

const CLAUDE_SEARCH = {
  tool: 'web_search',
  types: ['web_search_20250305', 'web_search_20260209', 'web_search_20260318'],
  models: ['claude-*'],
  per: 'use',
  usd: 0.01,
  source:
    "Anthropic's price list (platform.claude.com), 2026-10-10; litellm, 2026-06-04: $10 per 1,000 searches",
}

const GOOGLE = "Google's price list (ai.google.dev/gemini-api/docs/pricing); litellm, 2026-06-04"
const free = (tool, type) => ({
  tool,
  types: [type],
  models: ['gemini-*'],
  per: 'use',
  usd: 0,
  source: `${GOOGLE}: its tokens only`,
})
const GEMINI_TOOLS = [
  {
    tool: 'google_search',
    types: ['googleSearch', 'googleSearchRetrieval'],
    models: ['gemini-1*', 'gemini-2*'],
    per: 'request',
    usd: 0.035,
    source: `${GOOGLE}: $35 per 1,000 grounded requests`,
  },
  {
    tool: 'google_search',
    types: ['googleSearch'],
    models: ['gemini-*latest'],
    per: 'use',
    usd: 0.035,
    source: `${GOOGLE}: the higher of both prices, since the name tells no version`,
  },
  {
    tool: 'google_search',
    types: ['googleSearch'],
    models: ['gemini-*'],
    per: 'use',
    usd: 0.014,
    source: `${GOOGLE}: $14 per 1,000 queries`,
  },
  free('url_context', 'urlContext'),
  free('code_execution', 'codeExecution'),
]

const XAI = "xAI's price list (docs.x.ai/developers/pricing), 2026-10: $5 per 1,000 calls"
const XAI_TOOLS = ['web_search', 'x_search', 'code_interpreter'].map(tool => ({
  tool,
  types: [tool],
  per: 'use',
  usd: 0.005,
  source: XAI,
}))

export const HOSTED_TOOLS = {
  openai: OPENAI_TOOLS,
  azure: OPENAI_TOOLS,
  anthropic: [CLAUDE_SEARCH],
  gemini: GEMINI_TOOLS,
  vertex: [CLAUDE_SEARCH, ...GEMINI_TOOLS],
  xai: XAI_TOOLS,
}
