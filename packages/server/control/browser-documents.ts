/** A response with the error envelope. */
const failure = {
  description: 'Default Response',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const NOT_CONFIGURED = '`route_not_found` where sign-in by OIDC is not configured'

function redirect(description: string) {
  return {
    description,
    headers: {
      Location: { schema: { type: 'string' } },
      'Set-Cookie': { schema: { type: 'string' } },
    },
  }
}

/**
 * Routes for browsers, as the OpenAPI document shows them. They answer with pages and redirects, so they are no
 * operations and have no ids, from which clients make methods.
 */
export const BROWSER_DOCUMENTS = {
  '/v1/session/oidc/start': {
    get: {
      summary: 'Begins a sign-in at the OpenID Connect issuer.',
      description: `Faults: \`sign_in_failed\`, \`request_validation_failed\`, \`control_rate_limit_exceeded\`; ${NOT_CONFIGURED}.`,
      tags: ['session'],
      security: [],
      responses: {
        302: redirect(
          'To the issuer. The cookie `rideau_oidc`, or under https `__Host-rideau_oidc`, ties the sign-in to this browser.',
        ),
        default: failure,
      },
    },
  },
  '/v1/session/oidc/callback': {
    get: {
      summary: 'Completes a sign-in: the issuer sends the browser here.',
      description: `Parameters that the issuer adds are accepted. Faults: \`sign_in_failed\`, \`control_rate_limit_exceeded\`; ${NOT_CONFIGURED}.`,
      tags: ['session'],
      security: [],
      parameters: [
        { in: 'query', name: 'code', required: false, schema: { type: 'string' } },
        { in: 'query', name: 'state', required: false, schema: { type: 'string' } },
      ],
      responses: { 302: redirect('To the dashboard, with the cookie of the session.'), default: failure },
    },
  },
  '/docs/errors': {
    get: {
      summary:
        'The page that `doc_url` of every error links to: each code with its status, cause and remedy.',
      description: 'Needs no credential. `#<code>` leads to a code.',
      tags: ['documents'],
      security: [],
      responses: {
        200: { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } },
      },
    },
  },
} as const
