import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { fitTemperature, isTemperatureChanged, listUnwritten } from './temperature-scale.ts'

const REQUEST: ChatRequest = { model: 'm', messages: [], stream: false, includeUsage: false }

test('fits every temperature between 0 and 1, and reports exactly those that it changed', () => {
  fc.assert(
    fc.property(fc.double({ min: -3, max: 3, noNaN: true }), temperature => {
      const fitted = fitTemperature(temperature)
      expect(fitted).toBeGreaterThanOrEqual(0)
      expect(fitted).toBeLessThanOrEqual(1)
      expect(fitTemperature(fitted)).toBe(fitted)
      const isOnScale = temperature >= 0 && temperature <= 1
      expect(isTemperatureChanged({ ...REQUEST, temperature })).toBe(!isOnScale)
    }),
  )
})

test('reports nothing where no temperature is asked for', () => {
  expect(isTemperatureChanged(REQUEST)).toBe(false)
})

test('keeps a temperature among the dropped names unless its nearest value is sent', () => {
  const dropped = ['seed', 'temperature']
  expect(listUnwritten(REQUEST, dropped)).toEqual(dropped)
  expect(listUnwritten({ ...REQUEST, temperature: 0.5 }, dropped)).toEqual(dropped)
  expect(listUnwritten({ ...REQUEST, temperature: 1.5 }, dropped)).toEqual(['seed'])
})
