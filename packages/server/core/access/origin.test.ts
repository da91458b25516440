import { describe, expect, test } from 'vitest'
import { parseOrigin } from './origin.ts'

describe('an origin', () => {
  test.each([
    ['https://app.example', 'https://app.example'],
    ['HTTPS://App.Example:443', 'https://app.example'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://127.0.0.1:80', 'http://127.0.0.1'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['ionic://localhost', 'ionic://localhost'],
    ['tauri://localhost', 'tauri://localhost'],
    ['chrome-extension://abcdefghijklmnop', 'chrome-extension://abcdefghijklmnop'],
  ])('%s is %s', (text, origin) => expect(parseOrigin(text)).toBe(origin))

  test.each([
    'https://app.example/',
    'https://app.example/path',
    'https://app.example?x',
    'https://app.example#x',
    'https://*.example',
    '*',
    'null',
    '',
    'app.example',
    '//app.example',
    'https://',
    'https://user@app.example',
    'https://app.example:99999',
    'https://app.example\\x',
    'https://app .example',
    'https:app.example',
    'file://localhost',
    'javascript://x',
    'data://x',
    'capacitor://localhost/',
    'capacitor://localhost:99999',
    'capacitor://*',
    'https://app.example, https://b.example',
  ])('%j is none', text => expect(parseOrigin(text)).toBeUndefined())
})
