import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { buildDashboard } from './build-dashboard.mjs'

/** Bytes, compressed by gzip. */
const MAX_FIRST_SCRIPT = 240_000
const MAX_STYLES = 20_000
const MAX_PAGE = 60_000

let folder: string
let html: string
beforeAll(async () => {
  folder = await buildDashboard()
  html = fs.readFileSync(path.join(folder, 'index.html'), 'utf8')
})

const gzipped = (name: string): number => {
  const file = path.join(folder, name)
  return fs.statSync(fs.existsSync(`${file}.gz`) ? `${file}.gz` : file).size
}
const named = (pattern: RegExp): string[] => [...html.matchAll(pattern)].map(match => match[1] ?? '')

test("the first page's scripts and style sheets stay within their sizes", () => {
  const scripts = named(/(?:src|rel="modulepreload"[^>]* href)="\/(assets\/[^"]+\.js)"/g)
  expect(scripts.length).toBeGreaterThan(0)
  const sum = (names: readonly string[]): number => names.reduce((total, name) => total + gzipped(name), 0)
  expect(sum(scripts)).toBeLessThan(MAX_FIRST_SCRIPT)
  expect(sum(scripts)).toBeGreaterThan(50_000)
  const assets = fs.readdirSync(path.join(folder, 'assets')).map(name => `assets/${name}`)
  expect(sum(assets.filter(name => name.endsWith('.css')))).toBeLessThan(MAX_STYLES)
  for (const name of assets.filter(each => each.endsWith('.js') && !scripts.includes(each))) {
    expect([name, gzipped(name) < MAX_PAGE]).toEqual([name, true])
  }
})

test('the document has no inline script, style or handler, and names no other host', () => {
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:\/\//)
})

test("has React's production code only, whatever NODE_ENV is", () => {
  const scripts = fs.readdirSync(path.join(folder, 'assets')).filter(name => name.endsWith('.js'))
  for (const name of scripts) {
    const code = fs.readFileSync(path.join(folder, 'assets', name), 'utf8')
    expect([name, code.includes('jsxDEV')]).toEqual([name, false])
  }
})

test('each compressed copy is the file', () => {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const compressed = names.filter(name => name.endsWith('.br'))
  expect(compressed.length).toBeGreaterThan(3)
  for (const name of compressed) {
    const read = (end: string): Buffer => fs.readFileSync(path.join(folder, name.replace(/\.br$/, end)))
    expect(brotliDecompressSync(read('.br')).equals(read(''))).toBe(true)
    expect(gunzipSync(read('.gz')).equals(read(''))).toBe(true)
  }
})

test('a build leaves NODE_ENV as it was', async () => {
  const from = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-dashboard-'))
  for (const name of ['packages/dashboard', 'packages/sdk', 'tools']) {
    fs.mkdirSync(path.join(from, name), { recursive: true })
  }
  for (const name of ['package-lock.json', 'tools/build-dashboard.mjs', 'packages/dashboard/index.html']) {
    fs.writeFileSync(path.join(from, name), '<!doctype html>')
  }
  onTestFinished(() => {
    fs.rmSync(from, { recursive: true })
    vi.unstubAllEnvs()
  })
  for (const value of [undefined, 'development']) {
    vi.stubEnv('NODE_ENV', value)
    fs.rmSync(path.join(from, 'dist'), { recursive: true, force: true })
    expect(fs.readdirSync(await buildDashboard(from))).toEqual(['index.html'])
    expect(process.env.NODE_ENV).toBe(value)
  }
})

test('a second build of the same sources is the first one', async () => {
  expect(await buildDashboard()).toBe(folder)
})
