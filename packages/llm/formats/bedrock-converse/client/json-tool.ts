/**
 * The name of the tool that a model without structured output is forced to call, with the answer as its input. The decoder
 * turns the call into content, so no tool of a caller may have this name.
 */
export const JSON_TOOL = 'rideau_json_output'
