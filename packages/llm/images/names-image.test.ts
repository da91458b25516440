import { expect, test } from 'vitest'
import { measureMs } from '../testing/measure-ms.ts'
import { JsonTexts } from '../upstream/json-texts.ts'
import { namesImage } from './names-image.ts'

const LONG = 1024 * 1024

test.each([
  ['blanks', ' '.repeat(LONG)],
  ['digits', '1'.repeat(LONG)],
  ['blanks and digits', ' 1'.repeat(LONG / 2)],
])('a long text of %s is looked at in linear time', (_, text) => {
  const usedMs = measureMs(() => {
    expect(namesImage('mask_note', `${text}x`, new JsonTexts())).toBe(true)
    namesImage('start', `${text}x`, new JsonTexts())
  })
  expect(usedMs).toBeLessThan(100)
})

test.each(['0.35', ' -1 ', 'TRUE', 'none', '', '1.'])('the setting %j of images is no image', text => {
  expect(namesImage('image_strength_scale', text, new JsonTexts())).toBe(false)
})
