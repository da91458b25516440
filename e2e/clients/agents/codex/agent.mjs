// OpenAI's agent. Its package installs the binary of each platform beside it.
import path from 'node:path'

const PLATFORMS = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}
const platform = `${process.platform}-${process.arch}`
const binary = `@openai/codex-${platform}/vendor/${PLATFORMS[platform]}/bin/codex`

const ALIAS = 'gpt-5.6-terra'

export default {
  format: 'openai-responses',
  other: { model: 'anthropic/claude-sonnet-4-5', format: 'anthropic-messages' },
  alias: ALIAS,
  command: ({ modules, prompt, model }) => [
    ...[path.join(modules, binary), 'exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access'],
    ...(model === undefined ? [] : ['--model', model]),
    prompt,
  ],
  read: (file, { model } = {}) => exec(model, `cat ${file}`),
  edit: (file, { model } = {}) => exec(model, `sed -i s/red/blue/ ${file}`),
}

/**
 * OpenAI's own models write a program that calls the tools; other models call them one by one. Through the alias, the tool for
 * programs reaches the other provider as a function.
 */
function exec(model, cmd) {
  const program = `text(JSON.stringify(await tools.exec_command(${JSON.stringify({ cmd })})))`
  if (model === undefined) return { name: 'functions/exec', args: program }
  if (model === ALIAS) return { name: 'exec', args: { input: program } }
  return { name: 'exec_command', args: { cmd } }
}
