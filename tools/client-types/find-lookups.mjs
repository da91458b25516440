import path from 'node:path'
import ts from 'typescript'

// Object literals that are asked for, or written, by a word that is known only at run time. A caller's word finds there
// what every object has (`constructor`), and one of them changes what stands behind all the others (`__proto__`). Such a
// look-up takes a Map, or an object without a prototype (toTable). The compiler knows which words are open: a name out of
// a closed list of names is no danger.

/** Every such place in the files, as `file:line: text`. */
export function findLookups(files, options) {
  const program = ts.createProgram(files, options)
  const checker = program.getTypeChecker()
  return files.flatMap(file => {
    const source = program.getSourceFile(file)
    const found = []
    const visit = node => {
      const lookup = toLookup(node)
      if (lookup !== undefined && isOpen(lookup.word, checker) && isBareLiteral(lookup.object, checker)) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart())
        found.push(`${file}:${line + 1}: ${node.getText()}`)
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
    return found
  })
}

/** The settings of the tree's own compiler. */
export function readOptions(root) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: ({ messageText }) => throwText(messageText) }
  return ts.getParsedCommandLineOfConfigFile(path.join(root, 'tsconfig.json'), {}, host).options
}

function throwText(message) {
  throw new Error(String(message))
}

function toLookup(node) {
  if (ts.isElementAccessExpression(node)) return { object: node.expression, word: node.argumentExpression }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword) {
    return { object: node.right, word: node.left }
  }
  return undefined
}

/** May it be any text? A cast says nothing about the word. */
function isOpen(word, checker) {
  let inner = word
  while (ts.isAsExpression(inner) || ts.isParenthesizedExpression(inner)) inner = inner.expression
  const type = checker.getTypeAtLocation(inner)
  return (type.isUnion() ? type.types : [type]).some(each => (each.flags & ts.TypeFlags.String) !== 0)
}

/** Is it a name for an object that is written out, or built from such, with the usual prototype behind it? */
function isBareLiteral(object, checker) {
  let inner = object
  while (ts.isAsExpression(inner) || ts.isParenthesizedExpression(inner) || ts.isNonNullExpression(inner)) {
    inner = inner.expression
  }
  if (ts.isObjectLiteralExpression(inner)) return true
  if (!ts.isIdentifier(inner)) return false
  let symbol = checker.getSymbolAtLocation(inner)
  if (symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0)
    symbol = checker.getAliasedSymbol(symbol)
  const declared = symbol?.valueDeclaration
  if (declared === undefined || !ts.isVariableDeclaration(declared) || declared.initializer === undefined)
    return false
  let value = declared.initializer
  while (ts.isAsExpression(value) || ts.isSatisfiesExpression(value) || ts.isParenthesizedExpression(value)) {
    value = value.expression
  }
  return ts.isObjectLiteralExpression(value)
}
