import { expect, test } from 'vitest'
import { isProviderHost } from './provider-hosts.ts'

test.each([
  'api.openai.com',
  'team-1.openai.azure.com',
  'bedrock-runtime.eu-west-1.amazonaws.com',
  'europe-west4-aiplatform.googleapis.com',
  'aiplatform.googleapis.com',
])('%s is a provider host', host => {
  expect(isProviderHost(host)).toBe(true)
})

test.each([
  'api-openai.com',
  'api.openai.com.example.com',
  'apiXopenai.com',
  'a.b.openai.azure.com',
  'example.com#.openai.azure.com',
  '127.0.0.1',
  'localhost',
  '',
])('%j is not a provider host', host => {
  expect(isProviderHost(host)).toBe(false)
})
