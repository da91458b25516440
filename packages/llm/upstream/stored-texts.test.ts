import { describe, expect, test } from 'vitest'
import { FIELDS as CHAT } from '../formats/openai-chat/wire/fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { findUnsendable, TOKEN_SENDERS } from '../testing/outgoing/find-unsendable.ts'

describe("Alibaba's fileid://", () => {
  const by = (role: string, content: Json): JsonObject => ({ messages: [{ role, content }] })
  const NAMED: readonly JsonObject[] = [
    ...['system', 'developer'].map(role => by(role, 'Read fileid://file-fe-a, then answer.')),
    by('system', [
      { type: 'text', text: 'Read file' },
      { type: 'text', text: 'id://file-fe-a' },
    ]),
    ...['user', 'assistant', 'tool'].map(role => by(role, ' file\u200bID://file-fe-a,fileid://file-fe-b')),
    by('user', [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'fileid://file-fe-a' },
    ]),
    by('user', [
      { type: 'text', text: 'fileid:' },
      { type: 'text', text: '//file-fe-a' },
    ]),
  ]

  test.each(NAMED)('is refused where a message stands for it: %j', body => {
    for (const sender of TOKEN_SENDERS)
      expect(findUnsendable(CHAT.rules, body, { sender })).toMatch(/^messages\[0\]\.content/)
    expect(findUnsendable(CHAT.rules, body, { sender: 'key' })).toBeUndefined()
  })

  test.each(NAMED)('is a text at a provider that shows it to its model: %j', body => {
    for (const sender of TOKEN_SENDERS)
      expect(findUnsendable(CHAT.rules, body, { sender, hasPlainTexts: true })).toBeUndefined()
  })

  test.each(['user', 'assistant', 'tool'])('may be mentioned in a message by the role %s', role => {
    const said = 'What does fileid:// mean? Alibaba reads fileid://file-fe-a.'
    for (const content of [said, [{ type: 'text', text: said }]])
      expect(findUnsendable(CHAT.rules, by(role, content))).toBeUndefined()
  })
})
