import { createHash } from 'node:crypto'
import { FAULTS, type FaultCode, type FaultEntry } from '../../core/fault-table.ts'

/** The error reference, generated from the fault table: the page that every `doc_url` links to, and docs/errors.md. */

const entries = Object.entries(FAULTS) as [FaultCode, FaultEntry][]

const INTRO =
  'Every failure of either host has this shape. `code` is stable: branch on it. `message` is for people and may change. ' +
  '`param` names the offending field where there is one. `request_id` is the `X-Request-Id` of the answer. For secret keys ' +
  "and members `provider_message` has the provider's own message where it refused the request as invalid: at most 500 " +
  'characters, without keys, never of a failed authentication.'

const RETRIES =
  'Retry 408, 429 and 5xx after `Retry-After` seconds; other failures come again until the request changes. All other 4xx ' +
  'have `x-should-retry: false`, and so have `provider_auth_failed` and a 429 or 503 that must wait for more than 60 s. On the paths of ' +
  "OpenAI's format such a 429 has the type `insufficient_quota`, at which clients stop; its `code` stays."

const SHAPE = `{
  "error": {
    "type": "invalid_request_error",
    "code": "invalid_request",
    "message": "…",
    "param": "messages[2].content",
    "request_id": "…",
    "doc_url": "{base_url}/docs/errors#invalid_request"
  }
}`

/** Returns the text of docs/errors.md; tools/build-error-docs.mjs writes it. */
export function errorMarkdown(): string {
  const rows = entries.map(
    ([code, { status, type, condition }]) =>
      `| <a id="${code}"></a>\`${code}\` | ${status} | \`${type}\` | ${condition.replaceAll('|', '\\|')} |`,
  )
  return `# Errors

<!-- Made by tools/build-error-docs.mjs from packages/server/core/fault-table.ts. Do not edit. -->

${INTRO}

\`\`\`json
${SHAPE}
\`\`\`

${RETRIES}

| code | status | type | when |
|---|---|---|---|
${rows.join('\n')}
`
}

// The page has no script and loads nothing: its content security policy allows only this style sheet.
const CSS = `
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d9dee3; --paper: #fdfdfc; --mark: #fff5d6 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ea; --soft: #9aa4ae; --line: #30363d; --paper: #15181c; --mark: #3a3216 }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 6rem }
h1 { font-size: 1.6rem; margin: 0 0 1rem }
h2 { font: 600 1rem/1.4 ui-monospace, monospace; margin: 0; overflow-wrap: anywhere }
h2 a { color: inherit; text-decoration: none }
h2 a:hover, h2 a:focus-visible { text-decoration: underline }
section { border-top: 1px solid var(--line); padding: 1rem .75rem; margin: 0 -.75rem; scroll-margin-top: 1rem }
section:target { background: var(--mark) }
p { margin: .25rem 0 }
.kind { color: var(--soft); font-size: .875rem }
code { font: .9em ui-monospace, monospace }
pre { border: 1px solid var(--line); padding: 1rem; overflow-x: auto }
`

export interface ErrorPage {
  readonly html: string
  readonly contentSecurityPolicy: string
}

/** Returns the page at `GET /docs/errors`, where every code has an anchor of its own name. */
export function errorPage(): ErrorPage {
  const sections = entries.map(
    ([code, { status, type, condition }]) => `<section id="${code}">
<h2><a href="#${code}">${code}</a></h2>
<p class="kind">${status} · ${type}</p>
<p>${toHtml(condition)}</p>
</section>`,
  )
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors · Rideau</title>
<style>${CSS}</style>
</head>
<body>
<main>
<h1>Errors</h1>
<p>${toHtml(INTRO)}</p>
<pre><code>${escapeHtml(SHAPE)}</code></pre>
<p>${toHtml(RETRIES)}</p>
${sections.join('\n')}
</main>
</body>
</html>
`
  const styleHash = createHash('sha256').update(CSS).digest('base64')
  return {
    html,
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

function toHtml(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
