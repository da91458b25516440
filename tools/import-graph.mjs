// The imports between the source files of packages/, types included, and the circles in them.
import fs from 'node:fs'
import path from 'node:path'
import { root } from './build.mjs'

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]/g
const PACKAGE = /^@rideau\/([a-z]+)\/(.+)$/

/** The files that `file` imports, as paths from the repository's root; imports of packages are left out. */
export function listImports(file, text) {
  return [...text.matchAll(IMPORT)]
    .map(match => match[1] ?? match[2])
    .flatMap(name => {
      if (name.startsWith('.')) return [path.posix.join(path.posix.dirname(file), name)]
      const own = PACKAGE.exec(name)
      return own === null ? [] : [`packages/${own[1]}/${own[2]}.ts`]
    })
}

/** Edges between folders: a folder to the set of other folders that its files import from. */
export function toFolderGraph(files) {
  const graph = new Map()
  for (const [file, imports] of files) {
    const from = path.posix.dirname(file)
    const targets = graph.get(from) ?? new Set()
    graph.set(from, targets)
    for (const target of imports) {
      const to = path.posix.dirname(target)
      if (to !== from) targets.add(to)
    }
  }
  return graph
}

/** The groups of nodes that reach each other (Tarjan's algorithm). Groups of one are no circles and are left out. */
export function findCircles(graph) {
  const index = new Map()
  const low = new Map()
  const stack = []
  const circles = []
  const visit = node => {
    index.set(node, index.size)
    low.set(node, index.get(node))
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) {
        visit(next)
        low.set(node, Math.min(low.get(node), low.get(next)))
      } else if (stack.includes(next)) {
        low.set(node, Math.min(low.get(node), index.get(next)))
      }
    }
    if (low.get(node) !== index.get(node)) return
    const circle = stack.splice(stack.indexOf(node))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return circles
}

/** A message for each circle of imports between folders, and between files. `files`: pairs of a file and its imports. */
export function findImportCircles(files) {
  const report = (what, graph) =>
    findCircles(graph).map(
      circle =>
        `${circle.join(', ')}: these ${what} import each other in a circle, types included: ` +
        'move the part that both need to one that imports neither',
    )
  return [...report('folders', toFolderGraph(files)), ...report('files', new Map(files))]
}

/** Every source file of packages/ with what it imports. Tests and test helpers may import anything. */
export function readImports(names) {
  return names
    .filter(name => /^packages\/.*\.tsx?$/.test(name))
    .filter(name => !/\.test\.tsx?$|\.d\.ts$|\/testing\//.test(name))
    .map(name => [name, listImports(name, fs.readFileSync(path.join(root, name), 'utf8'))])
}
