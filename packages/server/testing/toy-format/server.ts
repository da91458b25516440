import { optionalFlag, textAt } from '@rideau/llm/formats/shared/reading/read-fields'
import { noFindings } from '@rideau/llm/formats/shared/requests/findings'
import type { ParseContext, ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { JsonObject } from '@rideau/llm/json/json-value'

/** Accepts `{"text": "…", "flow": true}` and answers `{"text": "…"}`, or with `flow` one line of text per delta. */
export const toyServer: ChatServer = {
  id: 'toy',
  parse,
  encodeReply: (_answered, { reply }, { costNanoUsd }) =>
    Buffer.from(JSON.stringify({ text: reply.choices[0]?.message.content, costNanoUsd })),
  openStream: () => ({
    measurePassable: () => 0,
    encode: events =>
      events.map(event => (event.type === 'delta' && event.content ? `${event.content}\n` : '')).join(''),
    finish: ({ finishReason }) => `(${finishReason})\n`,
  }),
  encodeStreamFault: ({ code }) => `!${code}\n`,
  streamType: 'text/x-toy',
  keepAlive: '\n',
}

function parse(body: JsonObject, { pathModel }: ParseContext): ParsedChat {
  return {
    request: {
      model: pathModel,
      messages: [{ role: 'user', content: textAt(body.text, 'text') }],
      stream: optionalFlag(body, 'flow') ?? false,
      includeUsage: true,
    },
    metadata: null,
    timeoutMs: undefined,
    findings: {
      ...noFindings(),
      passedOn: undefined,
      stored: undefined,
      choices: 1,
      asksForCaching: false,
    },
  }
}
