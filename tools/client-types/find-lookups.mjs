import path from 'node:path'
import ts from 'typescript'

// Finds object literals that are indexed by a string that is only known at run time. There a caller's string can match a
// property of every object (`constructor`) or set the prototype (`__proto__`). Such a look-up needs a Map or an object
// without a prototype (toTable). A string of a closed union type is safe: the compiler has checked it.

/** Returns every such place as `file:line: text`. */
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

/** The compiler options of the repository. */
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

/** Returns true if the index can be any string. A cast is ignored. */
function isOpen(word, checker) {
  let inner = word
  while (ts.isAsExpression(inner) || ts.isParenthesizedExpression(inner)) inner = inner.expression
  const type = checker.getTypeAtLocation(inner)
  return (type.isUnion() ? type.types : [type]).some(type => (type.flags & ts.TypeFlags.String) !== 0)
}

/** Returns true if the expression is an object literal, or a variable that was initialised with one. */
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
