import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './build.mjs'
import { withTable } from './build-clients-doc.mjs'

const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8')

describe('docs/clients.md', () => {
  test.each([
    ['results', 'e2e/clients'],
    ['agents', 'e2e/clients/agents'],
  ])('has the table of %s in %s', (table, folder) => {
    const page = read('docs/clients.md')
    const results = JSON.parse(read(`${folder}/results.json`))
    expect(Object.keys(results)).not.toEqual([])
    expect(withTable(page, results, table)).toBe(page)
    // Nothing would be replaced where the page had no place for the table.
    expect(withTable(page, {}, table)).not.toBe(page)
  })

  test.each([
    ['client.mjs', 'e2e/clients'],
    ['agent.mjs', 'e2e/clients/agents'],
  ])('has a row for every %s, with the versions that its folder pins', (script, parent) => {
    const results: Record<string, { versions: Record<string, string> }> = JSON.parse(
      read(`${parent}/results.json`),
    )
    const folders = fs
      .readdirSync(path.join(root, parent), { withFileTypes: true })
      .map(({ name }) => name)
      .filter(name => fs.existsSync(path.join(root, parent, name, 'package.json')))
      .filter(name => fs.existsSync(path.join(root, parent, name, script)))
    expect(folders).not.toEqual([])
    for (const name of folders) {
      const { dependencies, optionalDependencies } = JSON.parse(read(`${parent}/${name}/package.json`))
      const pinned = { ...dependencies, ...optionalDependencies }
      const rows = Object.entries(results).filter(([client]) => client.split('/')[0] === name)
      expect([name, ...rows.map(([, { versions }]) => versions)]).toEqual([name, ...rows.map(() => pinned)])
      expect([name, rows.length === 0]).toEqual([name, false])
    }
  })
})
