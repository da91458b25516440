import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { isHostedTool } from '../wire/tool-rules.ts'
import { addHosted, type Found } from './found.ts'
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
export function parseItemTools(input: Json | undefined, table: ToolTable, found: Found): void {
  if (!Array.isArray(input)) return
  for (const [at, each] of input.entries()) {
    const item = toObject(each)
    if (item === undefined || !isToolItem(item)) continue
    const path = `input[${at}]`
    refuseOtherLists(item, path, found)
    const { tools } = item
    if (!Array.isArray(tools)) continue
    table.mergeLater()
    if (item.type === ADDITIONAL) parseTools(tools, `${path}.tools`, table, found)
    else if (item.type === SEARCHED) parseFoundTools(tools, `${path}.tools`, table, found)
  }
}

/** A search of the caller's finds only what the caller runs. */
function parseFoundTools(tools: Json[], path: string, table: ToolTable, found: Found): void {
  const own = tools.filter((tool, at) => {
    if (!isHostedTool(tool)) return true
    addHosted(found, `${path}[${at}]`)
    return false
  })
  parseTools(own, path, table, found)
}

/** A list of tools in other letters, or a tool without a list: another parser may take it. */
function refuseOtherLists(item: JsonObject, path: string, found: Found): void {
  for (const name in item) {
    const value = item[name]
    if (!/^tools$/i.test(name) || value === undefined || value === null) continue
    if (name !== 'tools' || !Array.isArray(value)) addHosted(found, `${path}.${name}[0]`)
  }
}
