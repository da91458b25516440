import type { JsonObject } from '../json/json-value.ts'

export interface FunctionTool {
  type: 'function'
  function: { name: string; description?: string; parameters?: JsonObject; strict?: boolean | null }
}

export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } }
