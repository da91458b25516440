import type { Json } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'

/** The end of the scale of Anthropic's and Bedrock's formats. OpenAI's goes to 2. */
const MAX = 1

/** Returns the nearest temperature that these formats take. */
export function fitTemperature(value: Json): number {
  return Math.min(Math.max(Number(value), 0), MAX)
}

/** Returns true if the target gets another temperature than the one that was asked for. */
export function isTemperatureChanged({ temperature }: ChatRequest): boolean {
  return temperature !== undefined && fitTemperature(temperature) !== temperature
}

/** Returns the dropped names without `temperature` where the nearest value is sent in its place. */
export function listUnwritten(request: ChatRequest, dropped: readonly string[]): readonly string[] {
  return isTemperatureChanged(request) ? dropped.filter(name => name !== 'temperature') : dropped
}
