/** The headers of a request of JSON that is answered by JSON. */
export const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' } as const
