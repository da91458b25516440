import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { isConnector } from '../wire/hosted-tools.ts'
import { isHostedTool } from '../wire/tool-rules.ts'
import { addHosted, type InputFindings } from './input-findings.ts'
import { parseTools } from './parse-tools.ts'
import type { ToolTable } from './tool-table.ts'

const ADDITIONAL = 'additional_tools'
const SEARCHED = 'tool_search_output'

/**
 * Returns true if an item brings tools, or belongs to a search for them that the caller ran. A search that the provider ran has no id: only
 * that provider knows it.
 */
export function isToolItem({ type, call_id: id }: JsonObject): boolean {
  if (type === ADDITIONAL) return true
  return (type === SEARCHED || type === 'tool_search_call') && id !== undefined && id !== null
}

/** Adds the tools that items of the input bring, which the model has from there on. Later ones replace earlier ones. */
export function parseItemTools(input: Json | undefined, table: ToolTable, findings: InputFindings): void {
  if (!Array.isArray(input)) return
  for (const [at, value] of input.entries()) {
    const item = toObject(value)
    if (item === undefined || !isToolItem(item)) continue
    const path = `input[${at}]`
    noteOtherLists(item, path, findings)
    const { tools } = item
    if (!Array.isArray(tools)) continue
    table.mergeLater()
    if (item.type === ADDITIONAL) parseTools(tools, `${path}.tools`, table, findings)
    else if (item.type === SEARCHED) parseFoundTools(tools, `${path}.tools`, table, findings)
  }
}

/** A search of the caller's finds only what the caller runs. */
function parseFoundTools(tools: Json[], path: string, table: ToolTable, findings: InputFindings): void {
  const own = tools.filter((tool, at) => {
    if (!isHostedTool(tool)) return true
    addHosted(findings, `${path}[${at}]`, isConnector(tool))
    return false
  })
  parseTools(own, path, table, findings)
}

/** A list of tools in other letters, or a tool without a list: another parser may take it. */
function noteOtherLists(item: JsonObject, path: string, findings: InputFindings): void {
  for (const name in item) {
    const value = item[name]
    if (!/^tools$/i.test(name) || value === undefined || value === null) continue
    if (name !== 'tools' || !Array.isArray(value)) {
      addHosted(findings, `${path}.${name}[0]`, [value].flat().some(isConnector))
    }
  }
}
