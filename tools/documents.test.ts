import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './build.mjs'

/** Tracked files and new ones that git does not ignore. */
const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter(file => file !== '' && fs.existsSync(path.join(root, file)))
const fileSet = new Set(files)
const folderSet = new Set(files.flatMap(listParents))
const baseNames = new Set(files.map(file => path.posix.basename(file)))
const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts

/** A path in a document is written from the repository's root or from one of these folders. */
const BASES = ['', 'packages/server', 'packages/llm', 'packages/server/gateway', 'packages/server/control']
const documents = files.filter(file => file.endsWith('.md'))

const URL_TEXT = /\bhttps?:\/\/[^\s`)"']+/g
const FILE = /(?<![\w/.:{}<>*@~-])\.?[\w@][\w.@-]*(?:\/[\w.@-]+)*\.(?:tsx?|mjs|md|json|yaml|c|h)\b(?![\w/])/g
const FOLDER = /(?<![\w/.:{}<>*@~-])[\w-]+(?:\/[\w-]+)*\/(?=[`<*\s,.)])/g
const LINK = /\[[^\]]*\]\(([^()\s]+)\)/g
const SCRIPT = /\bnpm run ([\w:-]+)/g

/** What a document cites that does not exist. */
function findBreaches(document: string, markdown: string): string[] {
  const text = markdown.replaceAll(URL_TEXT, '')
  return [
    ...matches(text, FILE).filter(name => !isFile(name, document)),
    ...matches(text, FOLDER).filter(name => !isFolder(name.slice(0, -1))),
    ...[...markdown.matchAll(LINK)].map(([, target]) => target as string).filter(isBroken(document)),
    ...[...text.matchAll(SCRIPT)].map(([, name]) => name as string).filter(name => !(name in scripts)),
  ]
}

function isFile(name: string, document: string): boolean {
  if (!name.includes('/') && baseNames.has(name)) return true
  return [...BASES, path.posix.dirname(document)].some(base => fileSet.has(path.posix.join(base, name)))
}

/** Folders whose first part is no folder of the repository are others' (a deployment's data, an option's name). */
function isFolder(name: string): boolean {
  const [first = ''] = name.split('/')
  const bases = BASES.filter(base => folderSet.has(path.posix.join(base, first)))
  return bases.length === 0 || bases.some(base => folderSet.has(path.posix.join(base, name)))
}

const isBroken =
  (document: string) =>
  (target: string): boolean => {
    if (/^[a-z]+:/.test(target)) return false
    const [file = '', section] = target.split('#')
    const linked = file === '' ? document : path.posix.join(path.posix.dirname(document), file)
    if (folderSet.has(linked) && section === undefined) return false
    return !fileSet.has(linked) || (section !== undefined && !listSections(linked).includes(section))
  }

/** A heading's link, as GitHub makes it. */
function listSections(file: string): string[] {
  const headings = read(file).matchAll(/^#{1,6} (.+)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([match]) => match)
}

function listParents(file: string): string[] {
  const parts = file.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

function read(file: string): string {
  return fs.readFileSync(path.join(root, file), 'utf8')
}

describe('documents', () => {
  test.each(documents)('%s cites only files, folders, sections and npm scripts that exist', document => {
    expect(findBreaches(document, read(document))).toEqual([])
  })

  test.each([
    [
      'a file that does not exist',
      'see `packages/server/core/no-such.ts`',
      'packages/server/core/no-such.ts',
    ],
    ['a file name that no folder has', 'see `no-such.ts`', 'no-such.ts'],
    ['a folder that does not exist', 'see `packages/llm/no-such/`', 'packages/llm/no-such/'],
    ['a link to a file that does not exist', 'see [it](docs/no-such)', 'docs/no-such'],
    ['a link to a section that does not exist', 'see [it](SECURITY.md#no-such)', 'SECURITY.md#no-such'],
    ['a script that does not exist', 'run `npm run no-such`', 'no-such'],
  ])('reports %s', (_, text, breach) => {
    expect(findBreaches('README.md', text)).toContain(breach)
  })

  test('accepts what exists, addresses of other hosts and folders of a deployment', () => {
    const text =
      '`core/fault-table.ts` `fault-table.ts` `data/journal/` http://a.example/b.json [x](SECURITY.md#reporting) npm run check'
    expect(findBreaches('README.md', text)).toEqual([])
  })
})
