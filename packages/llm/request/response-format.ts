import type { JsonObject } from '../json/json-value.ts'

export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | {
      type: 'json_schema'
      json_schema: { name: string; schema?: JsonObject; strict?: boolean | null; description?: string }
    }
