// Request bodies like those of real apps, made the same on every run: 1, 20 and 200 KB of dialogue, and streams.

const WORDS =
  'the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were we when your can said there use an each which she do how their if'.split(
    ' ',
  )

/**
 * The scenarios, in the order of the report; `events` is the least number of events of each streamed answer. One with a `format` is
 * asked in that format and translated, and its `reference` is the scenario of the same answer as it comes.
 */
export const SCENARIOS = [
  { name: 'plain 1 KB', model: 'mock', bytes: 1_000, events: 0 },
  { name: 'plain 20 KB', model: 'mock', bytes: 20_000, events: 0 },
  { name: 'plain 200 KB', model: 'mock', bytes: 200_000, events: 0 },
  { name: 'stream of 50', model: 'mock-n50', bytes: 1_000, events: 50 },
  { name: 'stream of 200', model: 'mock-n200', bytes: 1_000, events: 200 },
  {
    name: 'translated 50',
    model: 'mock-n50',
    bytes: 1_000,
    events: 50,
    format: 'anthropic',
    reference: 'stream of 50',
  },
  {
    name: 'translated 200',
    model: 'mock-n200',
    bytes: 1_000,
    events: 200,
    format: 'anthropic',
    reference: 'stream of 200',
  },
]

/** A body of about `bytes` bytes, of chat completions or of Anthropic's messages. `modelPrefix` names the provider if the contender needs it. */
export function makeBody({ model, bytes, events, format }, modelPrefix) {
  const nextWord = createWordSource(bytes)
  const streaming = events > 0 ? { stream: true, stream_options: { include_usage: true } } : {}
  const messages = [
    { role: 'system', content: 'You are a helpful assistant. Answer briefly and cite your sources.' },
  ]
  const body = {
    model: modelPrefix + model,
    ...streaming,
    messages,
    temperature: 0.7,
    max_tokens: 512,
    top_p: 1,
  }
  const turnBytes = Math.max(200, Math.min(4_000, bytes / 4))
  let size = JSON.stringify(body).length
  while (size < bytes) {
    let content = 'é "quoted"\n'
    while (content.length < Math.min(turnBytes, bytes - size - 40)) content += `${nextWord()} `
    messages.push({ role: messages.length % 2 === 1 ? 'user' : 'assistant', content })
    size = JSON.stringify(body).length
  }
  return JSON.stringify(format === 'anthropic' ? toAnthropic(body) : body)
}

function toAnthropic({ stream_options: _, messages: [system, ...messages], ...body }) {
  return { ...body, system: system.content, messages }
}

/** A linear congruential generator: the same words for the same seed on every machine. */
function createWordSource(seed) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return WORDS[(state >>> 8) % WORDS.length]
  }
}
