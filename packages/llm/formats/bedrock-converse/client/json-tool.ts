/**
 * The tool that a model without structured output is made to call where the caller asked for JSON. Its call is the
 * answer's text, so that no caller sees it. Nobody else's tool has this name.
 */
export const JSON_TOOL = 'rideau_json_output'
