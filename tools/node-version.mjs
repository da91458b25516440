const MIN_NODE = [20, 19]

/** The oldest Node that the product supports; a clear message is better than a syntax error from a dependency. */
export function isSupportedNode(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])
}

/** Returns what to tell the user of a Node that is too old. */
export function explainOldNode(version) {
  return `Rideau needs Node ${MIN_NODE.join('.')} or newer; this is ${version}`
}
