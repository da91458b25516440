import { expect, test } from 'vitest'
import { isAddressPart, isProvidersOwn, toBaseUrl, toFixedHost, toModelsBaseUrl } from './base-address.ts'

const regional = { baseUrl: 'https://api.{region}.example.com/v1/projects/{project}' }

test("a credential's own address goes before the provider's", () => {
  expect(toBaseUrl({ baseUrl: 'https://a.example/v1' }, 'https://b.example', {})).toBe('https://b.example')
  expect(toBaseUrl({ baseUrl: 'https://a.example/v1' }, null, {})).toBe('https://a.example/v1')
  expect(toBaseUrl({ baseUrl: null }, undefined, undefined)).toBe('')
})

test("the credential's options are filled into the address, escaped where they are a path's", () => {
  expect(toBaseUrl(regional, null, { region: 'eu-west-1', project: 'example.com:p/1' })).toBe(
    'https://api.eu-west-1.example.com/v1/projects/example.com%3Ap%2F1',
  )
})

test.each(['evil.com/', 'a.b', 'a:1', 'x@evil.com', '', '-', 'a#', `a${'b'.repeat(63)}`])(
  'no option moves a request to another host: %j',
  region => {
    expect(isAddressPart(regional, 'region', region)).toBe(false)
    expect(() => toBaseUrl(regional, null, { region, project: 'p' })).toThrow(RangeError)
  },
)

test('an option that is missing, or would climb the path, is refused', () => {
  expect(() => toBaseUrl(regional, null, { region: 'r' })).toThrow(RangeError)
  expect(() => toBaseUrl(regional, null, { region: 'r', project: '..' })).toThrow(RangeError)
  expect(isAddressPart(regional, 'session_token', 'any/thing')).toBe(true)
})

test('a host is fixed unless credentials bring it or their options make it', () => {
  expect(toFixedHost({ baseUrl: 'https://api.example:8443/v1' })).toBe('api.example')
  expect(toFixedHost({ baseUrl: null })).toBeUndefined()
  expect(toFixedHost(regional)).toBeUndefined()
})

test('a single value of an option may have an address of its own', () => {
  const provider = {
    baseUrl: 'https://{region}.api.example/v1',
    baseUrlExceptions: [{ option: 'region', value: 'global', baseUrl: 'https://api.example/v1' }],
  }
  expect(toBaseUrl(provider, null, { region: 'eu' })).toBe('https://eu.api.example/v1')
  expect(toBaseUrl(provider, null, { region: 'global' })).toBe('https://api.example/v1')
})

test('reads models from the host of the list, except for a credential with its own address', () => {
  const provider = { ...regional, modelsBaseUrl: 'https://list.{region}.example.com' }
  expect(toModelsBaseUrl(provider, null, { region: 'eu-1' })).toBe('https://list.eu-1.example.com')
  expect(toModelsBaseUrl(provider, 'https://own.example', { region: 'eu-1' })).toBe('https://own.example')
  expect(toModelsBaseUrl({ baseUrl: 'https://a.example' }, null, {})).toBe('https://a.example')
})

test.each([
  ['https://api.a.example/v1', 'https://api.a.example/v1', true],
  ['https://api.a.example/v1', 'https://EU.api.a.example/other', true],
  ['https://api.a.example/v1', 'https://api.a.example:8443/v1', false],
  ['https://api.a.example/v1', 'http://api.a.example/v1', false],
  ['https://api.a.example/v1', 'https://api.a.example@b.example/v1', false],
  ['https://api.a.example/v1', 'https://xapi.a.example/v1', false],
  ['https://{resource}.a.example/v1', 'https://mine.a.example/v1', true],
  ['https://run.{region}.a.example', 'https://run.eu.a.example', false],
  ['http://127.0.0.1:11434/v1', 'http://127.0.0.1:11434/v1', false],
  [null, 'https://api.a.example/v1', false],
])("for a provider at %s the address %s is the provider's own: %s", (own, baseUrl, isOwn) => {
  expect(isProvidersOwn({ baseUrl: own }, baseUrl)).toBe(isOwn)
})
