import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { chunk, DONE, stream, usageChunk } from '../../testing/fakes/scripted-upstream.ts'
import { openLimitedApp, PRICED_CHAT } from '../../testing/harness/limited-app.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'

test('a stream that ends while its reservation is extended leaves nothing in the journal', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-ended-streams-'))
  const limited = await openLimitedApp({ RIDEAU_DATA_DIR: dataDir })
  const { app, deps, upstream } = limited
  try {
    const { key } = await limited.freshKey(100)
    // The answer of shared counters comes once the stream has ended.
    let end = (): void => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    const extensions: Promise<unknown>[] = []
    replaceProperty(deps.reservations, 'extend', extend => (...given) => {
      const verdict = extend.apply(deps.reservations, given)
      const answering = ended.then(() => verdict)
      extensions.push(answering)
      return answering
    })
    const words = Array.from({ length: 1000 }, () => chunk({ content: 'word' }))
    upstream.script(stream(...words, chunk({}, 'stop'), usageChunk(), DONE))
    const { max_tokens: _, ...unbounded } = PRICED_CHAT
    const answer = await app.call('/v1/chat', { ...unbounded, stream: true }, { key })
    expect(await answer.text()).toContain('[DONE]')
    expect(extensions).toHaveLength(1)
    end()
    await Promise.all(extensions)
    await app.stop()
    expect(readdirSync(path.join(dataDir, 'journal'))).toEqual([])
  } finally {
    await limited.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
