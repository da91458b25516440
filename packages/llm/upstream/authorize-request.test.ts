import { expect, test } from 'vitest'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import { authorizeRequest } from './authorize-request.ts'
import type { Target } from './target.ts'
import type { UpstreamRequest } from './upstream-request.ts'

function authorize(provider: Provider, apiKey: string): Record<string, string> {
  const request: UpstreamRequest = {
    origin: 'https://a.example',
    path: '/v1/x',
    headers: {},
    body: Buffer.alloc(0),
  }
  const target: Target = { provider, model: 'm', baseUrl: 'https://a.example/v1', apiKey }
  authorizeRequest(request, target, 0, null)
  return request.headers
}

const provider = (id: string): Provider => findProvider(id) as Provider

test('a key travels as Bearer, or in the header that the provider reads', () => {
  expect(authorize(provider('openai'), 'k')).toEqual({ authorization: 'Bearer k' })
  expect(authorize({ ...provider('openai'), auth: 'x-api-key' }, 'k')).toEqual({ 'x-api-key': 'k' })
  expect(authorize({ ...provider('openai'), auth: 'x-goog-api-key' }, 'k')).toEqual({ 'x-goog-api-key': 'k' })
})

test('the traceparent of the attempt is sent, and does not change a signature', () => {
  const bedrock = provider('bedrock')
  const sign = (traceparent?: string): Record<string, string> => {
    const request = { origin: 'https://a.example', path: '/v1/x', headers: {}, body: Buffer.alloc(0) }
    const options = { region: 'us-east-1', access_key_id: 'AKID' }
    const target = {
      provider: bedrock,
      model: 'm',
      baseUrl: 'https://a.example/v1',
      apiKey: 'secret',
      options,
    }
    authorizeRequest(request, traceparent === undefined ? target : { ...target, traceparent }, 0, null)
    return request.headers
  }
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  expect(sign(traceparent)).toEqual({ ...sign(), traceparent })
  expect(sign().authorization).toContain('AWS4-HMAC-SHA256')
})

test('where no key is needed and none is there, no header is sent', () => {
  expect(authorize(provider('ollama'), '')).toEqual({})
})

test('a key that is exchanged never travels itself: its token does', () => {
  const request: UpstreamRequest = {
    origin: 'https://a.example',
    path: '/',
    headers: {},
    body: Buffer.alloc(0),
  }
  const google: Provider = { ...provider('openai'), auth: 'google' }
  const target: Target = {
    provider: google,
    model: 'm',
    baseUrl: 'https://a.example',
    apiKey: '{}',
    accessToken: 't',
  }
  authorizeRequest(request, target, 0, null)
  expect(request.headers).toEqual({ authorization: 'Bearer t' })
})
