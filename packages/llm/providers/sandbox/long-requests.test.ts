import { expect, test } from 'vitest'
import type { JsonObject } from '../../json/json-value.ts'
import { measureMs } from '../../testing/measure-ms.ts'
import { completeSandbox } from './complete.ts'
import { answerEmbeddings } from './embed.ts'
import { answerImages } from './image.ts'
import { answerRerank } from './rerank.ts'
import type { SandboxAnswer } from './sandbox-answer.ts'

// Each answer is made in one tick of the event loop, free of charge, for whoever has a development key.

const bodyOf = (answer: SandboxAnswer): JsonObject => {
  if (answer.kind !== 'reply') throw new Error(answer.kind)
  return answer.body
}

test('a query of 100,000 words is compared with 10,000 documents by the words of the documents', () => {
  const query = Array.from({ length: 100_000 }, (_, index) => index.toString(36)).join(' ')
  const documents = Array.from({ length: 10_000 }, (_, index) => (index === 9_999 ? '7' : 'none'))
  const usedMs = measureMs(() => {
    const { results } = bodyOf(answerRerank({ query, documents, top_n: 1 }))
    expect(results).toMatchObject([{ index: 9_999 }])
  })
  // By the words of the query it takes more than two seconds.
  expect(usedMs).toBeLessThan(500)
})

test('vectors of more than 131,072 numbers together are refused with a status that is not attempted again', () => {
  const input = Array.from({ length: 2_048 }, (_, index) => `text ${index}`)
  expect(answerEmbeddings({ input, dimensions: 4096 })).toMatchObject({ kind: 'reply', status: 400 })
  expect(answerEmbeddings({ input, dimensions: 64 })).toMatchObject({ status: 200 })
  expect(answerEmbeddings({ input: input.slice(0, 32), dimensions: 4096 })).toMatchObject({ status: 200 })
})

test('a prompt of many tokens is repeated in part', () => {
  const prompt = Array.from({ length: 500_000 }, (_, index) => index)
  const [choice] = bodyOf(completeSandbox({ model: 'echo', prompt })).choices as { text: string }[]
  expect(JSON.parse(choice?.text ?? '')).toEqual(prompt.slice(0, 256))
})

test('images that differ in their beginning are edited to different ones', () => {
  const edit = (image: string): unknown =>
    answerImages({ prompt: 'a fox', images: [{ image_url: image }] }).data
  const rest = 'A'.repeat(100_000)
  expect(edit(`1${rest}`)).not.toEqual(edit(`2${rest}`))
  expect(edit(`1${rest}`)).toEqual(edit(`1${rest}AA`))
})
